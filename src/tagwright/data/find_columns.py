"""Which raw columns hold the text and which the labels: as named by the user, else by common names,
else by content.
"""

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.files.faults import Origin
from tagwright.data.label_forms import find_separator, is_flag
from tagwright.errors import DataError, some, unknown

TEXT = (
    *(
        "text",
        "sentence",
        "content",
        "body",
        "message",
        "comment",
        "review",
        "document",
        "utterance",
        "question",
    ),
    *(
        "tweet",
        "post",
        "query",
        "abstract",
        "description",
        "summary",
        "title",
        "headline",
        "subject",
    ),
)
TITLES, BODIES = (
    ("title", "headline", "subject"),
    ("description", "body", "content", "abstract", "message"),
)
LABELS = (
    *(
        "labels",
        "label",
        "categories",
        "category",
        "tags",
        "tag",
        "classes",
        "class",
        "topics",
        "topic",
    ),
    *(
        "targets",
        "target",
        "intents",
        "intent",
        "emotions",
        "emotion",
        "sentiment",
        "genres",
        "genre",
        "y",
    ),
)
TOKENS, TAGS = ("tokens", "words"), ("tags", "ner_tags", "pos_tags", "ner", "labels")
KEPT = ("id", "group", "weight")
Names = str | Sequence[str] | None


class MissingColumn(DataError):
    """A column that was named is not there; `what` it was named for, and the `columns` that are
    there.
    """

    def __init__(self, message: str, *, what: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.what, self.columns = what, columns


def named(table: pa.Table, origin: Origin, names: Names, what: str) -> list[str]:
    """The columns a user named, one or several with commas between; a column that is not there is
    an error.
    """
    wanted, there = listed(table, names), set(table.column_names)
    for name in wanted:
        if name not in there:
            message = f"{origin}: {unknown(f'{what} column', name, table.column_names)}"
            raise MissingColumn(message, what=what, columns=table.column_names)
    return wanted


def listed(table: pa.Table, names: Names) -> list[str]:
    """The columns that a user named, whether they are there or not; a column whose own name has a
    comma is one.
    """
    if names is None:
        return []
    if isinstance(names, str):
        return (
            [names] if names in table.column_names else [name.strip() for name in names.split(",")]
        )
    return list(names)


def find_text(table: pa.Table, origin: Origin, taken: Sequence[str]) -> list[str]:
    """The text column by name, a title joined with its body; else the one with the longest strings
    on average.
    """
    by_name = [name for name in find_by_name(table, TEXT, taken) if _is_text(table[name])]
    titles, bodies = (
        [name for name in by_name if _key(name) in group] for group in (TITLES, BODIES)
    )
    if titles and bodies and not any(_key(name) in ("text", "sentence") for name in by_name):
        return [titles[0], bodies[0]]
    if by_name:
        return by_name[:1]
    free = [name for name in table.column_names if name not in taken and _is_string(table[name])]
    if not free:
        raise DataError(
            f"{origin}: no column looks like text; columns: {quoted(table.column_names)}. "
            "Name it with --text (in Python: text=)"
        )
    return [
        max(
            free,
            key=lambda name: pc.mean(pc.utf8_length(table[name].slice(0, 10_000))).as_py() or 0,
        )
    ]


def find_labels(table: pa.Table, origin: Origin, taken: Sequence[str]) -> list[str]:
    """Label columns by content: several 0/1 columns, else the one column whose values recur."""
    free = [
        name
        for name in table.column_names
        if name not in taken and _key(name) not in (*KEPT, "split")
    ]
    flags = [
        name
        for name in free
        if not pa.types.is_nested(table[name].type) and is_flag(whole(table[name]))
    ]
    if len(flags) > 1:
        return flags
    recurring = [name for name in free if _recurs(whole(table[name]))]
    words = [name for name in recurring if not _is_numeric(whole(table[name]))]
    chosen = words if len(words) == 1 else recurring
    if len(chosen) != 1:
        why = (
            f"columns {quoted(chosen)} may all hold labels"
            if chosen
            else "no column looks like labels"
        )
        raise DataError(
            f"{origin}: {why}; columns: {quoted(table.column_names)}. "
            "Name the label column with --labels (in Python: labels=)"
        )
    return chosen


def find_by_name(table: pa.Table, names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Columns that bear one of the names, in their order; else the only one that ends in one, as
    comment_text does.
    """
    free = {name: _key(name) for name in table.column_names if name not in taken}
    exact = [name for wanted in names for name, key in free.items() if key == wanted]
    ending = [name for name, key in free.items() if re.split(r"[\s_.-]", key)[-1] in names]
    return exact or (ending if len(ending) == 1 else [])


def whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, as `plain` makes it."""
    array = plain(column).combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with dictionaries, large strings, large lists, and bytes that are text made
    plain.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    if is_bytes(column.type):
        return _decoded(column)
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are bytes that nobody has said to be text."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bytes as text, if all of them are; else as they are: a picture is no text."""
    try:
        return column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return column


def quoted(names: Sequence[str], *, most: int = 50) -> str:
    """Names for a message, the first of very many."""
    return some([repr(name) for name in names[:most]] + [""] * (len(names) - most), most=most)


def _key(name: str) -> str:
    return name.strip().casefold()


def _is_text(column: pa.ChunkedArray) -> bool:
    return _is_string(column) or is_bytes(column.type)


def _is_string(column: pa.ChunkedArray) -> bool:
    return not is_bytes(column.type) and bool(pa.types.is_string(plain(column.slice(0, 1)).type))


def _recurs(column: pa.Array) -> bool:
    """Whether values come back: at least two differ, and a value comes twice on average or its
    pieces recur.
    """
    if pa.types.is_list(column.type):
        return _recurs(column.flatten())
    if pa.types.is_nested(column.type):
        return False
    if pa.types.is_string(column.type):
        column = column.filter(pc.not_equal(column, ""))
    distinct = pc.count_distinct(column.drop_null()).as_py()
    if distinct > 1 and 2 * distinct <= len(column) - column.null_count:
        return True
    return pa.types.is_string(column.type) and find_separator(column) is not None


def _is_numeric(column: pa.Array) -> bool:
    if not pa.types.is_string(column.type):
        return not pa.types.is_nested(column.type)
    return bool(pc.all(pc.match_substring_regex(column.slice(0, 10_000), r"^[-+0-9.eE]*$")).as_py())
