"""fastText lines: `__label__sport __label__news some text`. A line without a label is
unlabelled.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.files.text_bytes import lines
from tagwright.data.label_forms import rebuilt
from tagwright.data.readers.reader import Reader

LINE = r"(?s)^\s*(?P<labels>(?:__label__\S+(?:[ \t]+|$))*)(?P<text>.*)$"


def fasttext(path: Path) -> pa.Table:
    """Columns `labels` (list; null where a line has none) and `text`. Without any label: `text`
    alone.
    """
    parts = pc.extract_regex(lines(path), LINE)
    text = pc.struct_field(parts, "text").cast(pa.string())
    marks = pc.struct_field(parts, "labels").cast(pa.string())
    lists = pc.ascii_split_whitespace(marks)
    names = pc.replace_substring_regex(lists.flatten(), "^__label__", "")
    if not pc.any(pc.not_equal(names, "")).as_py():
        return pa.table({"text": text})
    return pa.table({"labels": rebuilt(lists, names, null=pc.equal(marks, "")), "text": text})


class FastText(Reader):
    """fastText lines."""

    suffixes = (".txt",)
    read = staticmethod(fasttext)


PART = FastText
