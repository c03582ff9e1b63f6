"""From raw columns to canonical ones: which hold text, which labels, in which form, and what task
that makes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.dataset import HeadColumns, Task
from tagwright.data.files.faults import Origin
from tagwright.data.find_columns import (
    KEPT,
    LABELS,
    TAGS,
    TOKENS,
    Names,
    find_by_name,
    find_labels,
    find_text,
    is_bytes,
    named,
    plain,
    quoted,
    whole,
)
from tagwright.data.label_forms import Labels, from_column, from_flags
from tagwright.data.token_text import join, paired
from tagwright.errors import DataError, unknown
from tagwright.labels.tags import faults, repaired

TASKS: dict[Task, str] = {
    "one": "one label a text",
    "many": "several labels a text",
    "tokens": "a tag for each token",
    "both": "labels of texts and a tag for each token",
}

SHOWN = 10  # faults that a message names


class Canonical(NamedTuple):
    """A table with canonical columns (see `Data`), and how it came about."""

    table: pa.Table
    task: Task
    found: tuple[str, ...]  # a sentence for each finding
    text_columns: tuple[str, ...] = ()
    label_columns: tuple[str, ...] = ()
    separator: str = "auto"
    heads: Mapping[str, HeadColumns] = MappingProxyType({})


class Labelled(NamedTuple):
    """Labels of whole texts; `found` says where they came from and what task they make."""

    made: Labels
    task: Task
    found: tuple[str, ...]


class TaggedTokens(NamedTuple):
    """Tokens and their sound tags; `found` says where the tags came from and how many were
    mended.
    """

    tokens: pa.ListArray
    tags: pa.ListArray
    found: str
    mended: tuple[str, ...]


def canonical(
    table: pa.Table,
    origin: Origin,
    *,
    text: Names,
    labels: Names,
    task: Task | None,
    separator: str,
    strict: bool = False,
) -> Canonical:
    """Find text, labels and task, and bring them into canonical columns.

    What is set is taken; the rest is found by name, then by content. An empty or missing text stays
    in place, as "".
    """
    check_choices(task, separator)
    refuse_shared(origin, named(table, origin, text, "text"), named(table, origin, labels, "label"))
    pair = _token_pair(table, origin, text, labels, task)
    if pair is not None:
        return _tagged(table, origin, *pair, separator, task=task or "tokens", strict=strict)
    text_names = named(table, origin, text, "text")
    label_names = (
        named(table, origin, labels, "label") or find_by_name(table, LABELS, text_names)[:1]
    )
    text_names = text_names or find_text(table, origin, label_names)
    label_names = label_names or find_labels(table, origin, text_names)
    made, task, said = labelled(table, origin, label_names, task=task, separator=separator)
    columns = (
        {"text": joined_text(table, text_names, origin)} | made.columns() | kept(table, origin)
    )
    found = (f"text: {column_names(text_names)}", *said)
    return Canonical(
        pa.table(columns), task, found, tuple(text_names), tuple(label_names), made.separator
    )


def check_choices(task: Task | None, separator: str) -> None:
    """Refuse a task that is none, and a separator of no character."""
    if task is not None and task not in TASKS:
        raise DataError(unknown("task", task, TASKS))
    if not separator:
        raise DataError(
            'the separator is empty; expected "auto", "none" or the characters between two labels'
        )


def refuse_shared(origin: Origin, text: list[str], labels: list[str]) -> None:
    """Refuse columns that are named as text and as labels."""
    both = [name for name in text if name in labels]
    if both:
        raise DataError(
            f"{origin}: {column_names(both)} cannot be text and label at once; name another one"
        )


def labelled(
    table: pa.Table, origin: Origin, names: list[str], *, task: Task | None, separator: str
) -> Labelled:
    """The labels of these columns, in whichever form they are."""
    made, task = settle_task(_labels(table, origin, names, separator), origin, task)
    form = f"labels: {column_names(names)}, {made.form + ', ' if made.form else ''}"
    count = count_labels(made.lists, origin, names)
    return Labelled(made, task, (f"{form}{count} labels", f"task: {TASKS[task]}"))


def tagged(
    table: pa.Table, origin: Origin, tokens: str, tags: str, *, strict: bool
) -> TaggedTokens:
    """The tags of one column for the tokens of another, mended where they follow no scheme."""
    both = paired(whole(table[tokens]), whole(table[tags]), origin)
    made, mended = _sound(both[1], table, origin, strict=strict)
    count = count_labels(made, origin, [tags])
    return TaggedTokens(both[0], made, f"tags: {column_names([tags])}, {count} tags", mended)


def text_of_tokens(table: pa.Table, tokens: pa.ListArray) -> dict[str, pa.Array]:
    """The `text` of tokens and their `starts` in it: from the table where it has both, else the
    tokens joined.
    """
    if {"text", "starts"} <= set(table.column_names):
        return {"text": plain(table["text"]), "starts": starts_in(table)}
    return dict(zip(("text", "starts"), join(tokens)))


def starts_in(table: pa.Table) -> pa.ListArray:
    """The column `starts`."""
    return whole(table["starts"]).cast(pa.list_(pa.int32()))


def labels_beside(table: pa.Table, taken: list[str], separator: str) -> tuple[list[str], Labels]:
    """The column of labels beside tokens and tags, and what it holds; null where nobody judged the
    text as a whole.
    """
    names = find_by_name(table, LABELS, taken)[:1]
    if not names:
        return names, Labels(pa.nulls(table.num_rows, pa.list_(pa.string())))
    return names, from_column(whole(table[names[0]]), separator)


def settle_task(made: Labels, origin: Origin, task: Task | None) -> tuple[Labels, Task]:
    """The task, found where not set: "one" when every labelled row has exactly one label and none
    is unknown.

    Where "one" is set, two labels are an error that names the row (soft labels may share out one
    choice) and no label means unlabelled.
    """
    counts = pc.fill_null(pc.list_value_length(made.lists), 1).to_numpy(zero_copy_only=False)
    if task is None:
        return made, "one" if made.unknown is None and bool((counts == 1).all()) else "many"
    if task != "one":
        return made, task
    several = np.flatnonzero(counts > 1)
    if len(several) and made.values is None:
        place, labels = origin.at(int(several[0])), made.lists[int(several[0])].as_py()
        raise DataError(
            f"{place}: {len(labels)} labels ({quoted(labels)}), but the task is one label a text"
        )
    return made._replace(lists=pc.if_else(pa.array(counts == 0), None, made.lists)), "one"


def joined_text(table: pa.Table, names: list[str], origin: Origin | None = None) -> pa.ChunkedArray:
    """The text columns as one, a newline between them; an empty part leaves no newline."""
    whole_text, *parts = (pc.fill_null(_text_of(table, name, origin), "") for name in names)
    for part in parts:
        both = pc.and_(pc.not_equal(whole_text, ""), pc.not_equal(part, ""))
        whole_text = pc.binary_join_element_wise(whole_text, part, pc.if_else(both, "\n", ""))
    return whole_text


def _text_of(table: pa.Table, name: str, origin: Origin | None) -> pa.ChunkedArray:
    """One column as strings."""
    column = plain(table[name])
    if is_bytes(column.type) or pa.types.is_nested(column.type):
        place = "" if origin is None else f"{origin}, "
        raise DataError(f"{place}column {name!r}: holds {_kind_of(column)}, expected text")
    return column.cast(pa.string())


def _kind_of(column: pa.Array | pa.ChunkedArray) -> str:
    return "bytes that are not UTF-8" if is_bytes(column.type) else str(column.type)


def count_labels(lists: pa.ListArray, origin: Origin, names: list[str]) -> int:
    """How many labels differ; fewer than two are an error."""
    distinct = pc.unique(lists.flatten())
    if len(distinct) < 2:
        came = f"only {distinct[0].as_py()!r}" if len(distinct) else "none"
        raise DataError(
            f"{origin}, {column_names(names)}: a tagger needs two labels or more, found {came}; is"
            " it the label column?"
        )
    return len(distinct)


def _labels(table: pa.Table, origin: Origin, names: list[str], separator: str) -> Labels:
    if len(names) > 1:
        return from_flags({name: whole(table[name]) for name in names}, origin)
    column = whole(table[names[0]])
    kind = column.type.value_type if pa.types.is_list(column.type) else column.type
    if pa.types.is_nested(kind) or is_bytes(kind):
        raise DataError(
            f"{origin}, {column_names(names)}: holds {_kind_of(column)}, expected a string, a list"
            " of strings or a number"
        )
    return from_column(column, separator)


def _token_pair(
    table: pa.Table, origin: Origin, text: Names, labels: Names, task: Task | None
) -> tuple[str, str] | None:
    """The columns of tokens and tags; None where the task is another."""
    if task not in (None, "tokens", "both"):
        return None
    tokens = named(table, origin, text, "text") or [
        name for name in TOKENS if name in table.column_names
    ]
    tags = named(table, origin, labels, "label") or [
        name for name in TAGS if name in table.column_names
    ]
    both = [*tokens[:1], *tags[:1]]
    if task is None and (
        len(both) < 2 or not all(pa.types.is_list(plain(table[name]).type) for name in both)
    ):
        return None
    if len(both) < 2:
        raise DataError(
            f"{origin}: no columns of tokens and tags among {quoted(table.column_names)}; "
            "name them with --text and --labels (in Python: text= and labels=)"
        )
    return both[0], both[1]


def _tagged(
    table: pa.Table,
    origin: Origin,
    tokens: str,
    tags: str,
    separator: str,
    *,
    task: Task,
    strict: bool,
) -> Canonical:
    made = tagged(table, origin, tokens, tags, strict=strict)
    beside, labels = labels_beside(table, [tokens, tags], separator)
    columns = (
        {"tokens": made.tokens, "tags": made.tags}
        | text_of_tokens(table, made.tokens)
        | {"labels": labels.lists}
    )
    found = (f"tokens: {column_names([tokens])}", made.found, f"task: {TASKS[task]}")
    result = Canonical(pa.table(columns | kept(table, origin)), task, (*found, *made.mended))
    if task != "both":
        return result
    if not beside:
        raise DataError(
            f"{origin}: no column of labels beside tokens and tags among"
            f" {quoted(table.column_names)}"
        )
    heads = {
        "main": HeadColumns(task="many", columns=tuple(beside), separator=labels.separator),
        "tags": HeadColumns(task="tokens", columns=(tags,)),
    }
    return result._replace(
        found=(*found, f"labels: {column_names(beside)}", *made.mended), heads=heads
    )


def _sound(
    tags: pa.ListArray, table: pa.Table, origin: Origin, *, strict: bool
) -> tuple[pa.ListArray, tuple[str, ...]]:
    """Tags that follow their scheme, and a sentence about those that were mended; with `strict`
    they are refused.
    """
    made, count = repaired(tags)
    if strict and count:
        shown = [_token_place(table, origin, *place) for place in faults(tags, most=SHOWN)]
        more = f" and {count - SHOWN} more" if count > SHOWN else ""
        raise DataError(
            f"tags that cannot stand where they are: {'; '.join(shown)}{more}; --strict refuses to"
            " mend them"
        )
    return made, (
        (f"mended: {count} tags that cannot stand where they are; --strict names them",)
        if count
        else ()
    )


def _token_place(table: pa.Table, origin: Origin, row: int, token: int) -> str:
    if "line" not in table.column_names:
        return f"{origin.at(row)}, token {token + 1}"
    file = origin.at(row).rpartition(", row ")[0]
    return f"{file}, line {table['line'][row].as_py() + token}"


def kept(table: pa.Table, origin: Origin) -> dict[str, pa.ChunkedArray]:
    """The columns that stay as they are: `id`, `group` and `weight`, the last as numbers."""
    found = {name: plain(table[name]) for name in KEPT if name in table.column_names}
    if "weight" in found:
        try:
            found["weight"] = found["weight"].cast(pa.float64())
        except pa.ArrowInvalid as error:
            numbers = pc.match_substring_regex(
                found["weight"], r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
            )
            row = max(pc.index(numbers, False).as_py(), 0)
            came = found["weight"][row].as_py()
            raise DataError(
                f"{origin.at(row)}, column 'weight': {came!r}, expected a number"
            ) from error
    return found


def column_names(names: list[str]) -> str:
    """Columns for a message: "columns 'a', 'b'"."""
    return f"{'column' if len(names) == 1 else 'columns'} {quoted(names)}"
