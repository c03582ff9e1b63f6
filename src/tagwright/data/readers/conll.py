"""CoNLL: a token a line, its tag in the last column, a blank line after a sentence; `-DOCSTART-`
lines are skipped.

Columns are separated by tabs, or by blanks where a line has no tab.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.files.text_bytes import lines
from tagwright.data.readers.reader import Reader
from tagwright.data.token_text import join
from tagwright.errors import DataError

LINE = (
    r"^(?:(?P<tabbed>[^\t]+)\t(?:.*\t)?(?P<tabbed_tag>[^\t]+)|(?P<token>[^ \t]+) +(?:[^\t]*"
    r" )?(?P<tag>[^ \t]+)) *$"
)


def conll(path: Path) -> pa.Table:
    """One row a sentence: `tokens`, `tags`, `text`, `starts` and the `line` of its first token.

    A line with one column is an error that names it.
    """
    content = lines(path)
    blank = pc.equal(pc.utf8_trim_whitespace(content), "")
    between = pc.or_(blank, pc.starts_with(content, "-DOCSTART-")).to_numpy(zero_copy_only=False)
    kept = pa.array(~between)
    parts = pc.extract_regex(content.filter(kept), LINE)
    if parts.null_count:
        number = int(np.flatnonzero(~between)[pc.index(pc.is_null(parts), True).as_py()]) + 1
        line = content[number - 1].as_py()
        raise DataError(
            f"{path.name}, line {number}: {line!r} is no token with its tag; expected two columns"
            " or more"
        )
    tokens, tags = (_first(parts, *names) for names in (("tabbed", "token"), ("tabbed_tag", "tag")))
    offsets = _sentences(between)
    if len(offsets) == 1:
        raise DataError(
            f"{path.name}: no sentence in it; expected a token and its tag on each line"
        )
    lists = pa.ListArray.from_arrays(offsets, tokens)
    text, starts = join(lists)
    columns = {
        "tokens": lists,
        "tags": pa.ListArray.from_arrays(offsets, tags),
        "text": text,
        "starts": starts,
    }
    first = np.flatnonzero(~between)[offsets.to_numpy()[:-1]] + 1
    return pa.table({**columns, "line": pa.array(first, pa.int64())})


def _first(parts: pa.StructArray, tabbed: str, spaced: str) -> pa.StringArray:
    left, right = (pc.struct_field(parts, name).cast(pa.string()) for name in (tabbed, spaced))
    return pc.utf8_trim(pc.if_else(pc.equal(left, ""), right, left), " ")


def _sentences(between: np.ndarray) -> pa.Int32Array:
    """Offsets of the sentences among the token lines; two blank lines in a row make no empty
    sentence.
    """
    before = np.concatenate([[True], between[:-1]])
    opens = np.flatnonzero(~between & before)
    position = np.cumsum(~between) - 1
    return pa.array(np.append(position[opens], (~between).sum()).astype(np.int32))


class CoNLL(Reader):
    """CoNLL."""

    suffixes = (".conll", ".iob", ".iob2", ".bio")
    read = staticmethod(conll)


PART = CoNLL
