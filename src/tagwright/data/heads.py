"""Several named heads of one source: each reads labels of texts, or tags of tokens, from columns of
its own.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypedDict, cast

import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.columns import (
    TASKS,
    Canonical,
    check_choices,
    column_names,
    joined_text,
    kept,
    labelled,
    labels_beside,
    refuse_shared,
    starts_in,
    tagged,
    text_of_tokens,
)
from tagwright.data.dataset import NAME, NAMES, HeadColumns, Task, united
from tagwright.data.files.faults import Origin
from tagwright.data.find_columns import (
    TOKENS,
    MissingColumn,
    Names,
    find_text,
    listed,
    named,
    plain,
    quoted,
    whole,
)
from tagwright.data.token_text import paired
from tagwright.errors import DataError, unknown

KEYS = ("labels", "task", "separator")

# by name: the labels' column or columns, the task and the separator
Heads = Mapping[str, Mapping[str, object]]


class HeadGiven(TypedDict, total=False):
    """What is set of a head."""

    labels: Names
    task: Task
    separator: str


class HeadRequest(NamedTuple):
    """What was asked of a head; the task is None where it is to be found."""

    name: str
    columns: list[str]
    task: Task | None
    separator: str


class Read(NamedTuple):
    """What a head's columns hold; `lists` are the labels, those of whole texts or the tags."""

    name: str
    columns: dict[str, pa.Array]
    lists: pa.ListArray
    source: HeadColumns
    found: tuple[str, ...]

    def named(self, *, apart: bool) -> dict[str, pa.Array]:
        """The columns, where they stand beside those of other heads with the head's name."""
        return {
            f"{column}/{self.name}" if apart else column: values
            for column, values in self.columns.items()
        }


class Base(NamedTuple):
    """What all heads share: the text of every row, perhaps with its tokens; `names` are the columns
    of the text.
    """

    columns: dict[str, pa.Array | pa.ChunkedArray]
    found: tuple[str, ...]
    names: tuple[str, ...] = ()


def canonical_heads(
    table: pa.Table,
    origin: Origin,
    heads: Heads,
    *,
    text: Names = None,
    separator: str = "auto",
    strict: bool = False,
    optional: bool = False,
) -> Canonical:
    """Bring the labels of every head into columns of its own, beside one text (see `Data`); of one
    head alone into those that a source without named heads has.

    A head reads the column of its own name, or those that its `labels` name. Where its task is not
    set, a list that has an item for each token in every row is read as tags. With `optional`, a
    head without its columns is left out, but one must be there.
    """
    asked = [_asked(table, name, given, separator) for name, given in heads.items()]
    there, left_out = _there(table, origin, asked, optional=optional)
    taken = list(dict.fromkeys(column for head in there for column in head.columns))
    text_names = named(table, origin, text, "text")
    refuse_shared(origin, text_names, taken)
    tokens = _tokens_of(table, text_names, taken, asked)
    read = [_read(table, origin, head, tokens, strict=strict) for head in there]
    _refuse_two_uses(origin, read)
    if tokens and _from_tokens(table, tokens, text_names, asked, read):
        base = _token_text(table, origin, tokens, text_names, taken)
    else:
        base = _plain_text(table, text_names or find_text(table, origin, taken))
    labels = _all_labels(table, read, [tokens, *taken] if tokens else taken, separator)
    columns = {
        name: column for one in read for name, column in one.named(apart=len(read) > 1).items()
    }
    columns = {**base.columns, "labels": labels, **columns, **kept(_without(table, taken), origin)}
    return Canonical(
        table=pa.table(columns),
        task=_task_of([one.source.task for one in read]),
        found=(*base.found, *(sentence for one in read for sentence in one.found), *left_out),
        text_columns=base.names,
        label_columns=tuple(taken),
        separator=separator,
        heads={one.name: one.source for one in read},
    )


def _asked(table: pa.Table, name: str, given: Mapping[str, object], separator: str) -> HeadRequest:
    if not re.fullmatch(NAME, name):
        raise DataError(f"head {name!r}: {NAMES}")
    for key in given:
        if key not in KEYS:
            raise DataError(f"head {name!r}: {unknown('key', key, KEYS)}")
    # what `listed` and `check_choices` let pass
    values = cast(HeadGiven, {key: value for key, value in given.items() if value is not None})
    task = values.get("task")
    head = HeadRequest(
        name, listed(table, values.get("labels", name)), task, values.get("separator", separator)
    )
    with _about(head):
        if not head.columns:
            raise DataError("it names no column of labels")
        if task == "both":
            raise DataError(
                "a head has one task; for labels of texts and tags of tokens, name two heads"
            )
        check_choices(task, head.separator)
    return head


def _there(
    table: pa.Table, origin: Origin, asked: Sequence[HeadRequest], *, optional: bool
) -> tuple[list[HeadRequest], tuple[str, ...]]:
    """The heads whose columns are there, and a sentence for each that is left out."""
    present = set(table.column_names)
    gone = [head for head in asked if optional and not _holds(table, present & set(head.columns))]
    there = [head for head in asked if head not in gone]
    for head in there:
        with _about(head):
            named(table, origin, head.columns, "label")
    if not there:
        names, wanted = (
            [head.name for head in gone],
            [column for head in gone for column in head.columns],
        )
        message = (
            f"{origin}: no column of the heads {quoted(names)}:"
            f" {unknown('label column', wanted[0], present)}"
        )
        raise MissingColumn(message, what="label", columns=table.column_names)
    return there, tuple(
        f"{head.name}: left out, nothing in {column_names(head.columns)}" for head in gone
    )


def _holds(table: pa.Table, columns: Collection[str]) -> bool:
    """Whether some cell of these columns holds anything."""
    blank = {name: pc.is_null(table[name]) for name in columns}
    texts = [name for name in columns if pa.types.is_string(plain(table[name].slice(0, 1)).type)]
    blank |= {
        name: pc.or_(blank[name], pc.equal(pc.fill_null(plain(table[name]), ""), ""))
        for name in texts
    }
    return any(not pc.all(cells).as_py() for cells in blank.values())


def _tokens_of(
    table: pa.Table, text: Sequence[str], taken: Sequence[str], asked: Sequence[HeadRequest]
) -> str | None:
    """The column of tokens: a list named as the text, a column with a usual name, or strings that
    blanks separate.
    """
    lists = [name for name in text if _is_list(table[name])]
    usual = [name for name in TOKENS if name in table.column_names and name not in taken]
    strings = text if any(head.task == "tokens" for head in asked) else ()
    return next(iter([*lists, *usual, *strings]), None)


def _read(
    table: pa.Table, origin: Origin, head: HeadRequest, tokens: str | None, *, strict: bool
) -> Read:
    with _about(head):
        if head.task == "tokens" or (head.task is None and _are_tags(table, head.columns, tokens)):
            return _tags(table, origin, head, tokens, strict=strict)
        made, task, found = labelled(
            table, origin, head.columns, task=head.task, separator=head.separator
        )
    source = HeadColumns(task=task, columns=tuple(head.columns), separator=made.separator)
    return _under_name(head, made.columns(), made.lists, source, found)


def _tags(
    table: pa.Table, origin: Origin, head: HeadRequest, tokens: str | None, *, strict: bool
) -> Read:
    if len(head.columns) > 1:
        raise DataError(f"{origin}: tags of tokens are one column, got {quoted(head.columns)}")
    if tokens is None or tokens in head.columns:
        raise DataError(
            f"{origin}: no column of tokens among {quoted(table.column_names)}; name it with --text"
            " (in Python: text=)"
        )
    made = tagged(table, origin, tokens, head.columns[0], strict=strict)
    source = HeadColumns(task="tokens", columns=tuple(head.columns))
    return _under_name(
        head,
        {"tags": made.tags},
        made.tags,
        source,
        (made.found, f"task: {TASKS['tokens']}", *made.mended),
    )


def _under_name(
    head: HeadRequest,
    columns: Mapping[str, pa.Array],
    lists: pa.ListArray,
    source: HeadColumns,
    found: Sequence[str],
) -> Read:
    return Read(
        head.name,
        dict(columns),
        lists,
        source,
        tuple(f"{head.name}: {sentence}" for sentence in found),
    )


def _are_tags(table: pa.Table, columns: Sequence[str], tokens: str | None) -> bool:
    """Whether one column holds an item for each token, in every row where it is not null."""
    if (
        tokens is None
        or len(columns) > 1
        or not all(_is_list(table[name]) for name in (tokens, *columns))
    ):
        return False
    items, words = (pc.list_value_length(whole(table[name])) for name in (columns[0], tokens))
    return bool(
        (pc.sum(items).as_py() or 0) > 0 and pc.all(pc.equal(items, pc.fill_null(words, 0))).as_py()
    )


def _is_list(column: pa.ChunkedArray) -> bool:
    kind = plain(column.slice(0, 1)).type
    return bool(pa.types.is_list(kind) and not pa.types.is_nested(kind.value_type))


def _from_tokens(
    table: pa.Table,
    tokens: str,
    text: Sequence[str],
    asked: Sequence[HeadRequest],
    read: Sequence[Read],
) -> bool:
    """Whether the text is that of the tokens: a head tags them, or would if its tags were there; or
    text names them.
    """
    tasks = [*(head.task for head in asked), *(one.source.task for one in read)]
    return "tokens" in tasks or (tokens in text and _is_list(table[tokens]))


def _plain_text(table: pa.Table, names: list[str]) -> Base:
    return Base(
        {"text": joined_text(table, names)}, (f"text: {column_names(names)}",), tuple(names)
    )


def _token_text(
    table: pa.Table, origin: Origin, tokens: str, text: Sequence[str], taken: Sequence[str]
) -> Base:
    """Tokens with their text and starts; a text that is named beside the tokens needs `starts`."""
    untagged = pa.nulls(table.num_rows, pa.list_(pa.string()))
    lists, _ = paired(whole(table[tokens]), untagged, origin)
    columns = {"tokens": lists, **text_of_tokens(_without(table, taken), lists)}
    said, others = f"tokens: {column_names([tokens])}", [name for name in text if name != tokens]
    if not others:
        return Base(columns, (said,))
    if "starts" not in table.column_names:
        raise DataError(
            f"{origin}: {column_names(others)} beside the tokens of {tokens!r} needs a column"
            " 'starts' that says where each token begins; or leave text out, and the text is the"
            " tokens joined"
        )
    columns |= {"text": joined_text(table, others), "starts": starts_in(table)}
    return Base(columns, (f"text: {column_names(others)}", said), tuple(others))


def _all_labels(
    table: pa.Table, read: Sequence[Read], taken: list[str], separator: str
) -> pa.ListArray:
    """The labels of all heads of whole texts; where all tag tokens, those of a column beside."""
    texts = {one.name: one.lists for one in read if one.source.task != "tokens"}
    if len(read) == 1 and texts:
        return next(iter(texts.values()))
    return united(texts) if texts else labels_beside(table, taken, separator)[1].lists


def _task_of(tasks: Sequence[Task]) -> Task:
    if len(tasks) == 1:
        return tasks[0]
    tagging = [task == "tokens" for task in tasks]
    if all(tagging):
        return "tokens"
    return "both" if any(tagging) else "many"


def _refuse_two_uses(origin: Origin, read: Sequence[Read]) -> None:
    """A column that holds tags of tokens for one head holds no labels of texts for another."""
    tags = {one.source.columns[0]: one.name for one in read if one.source.task == "tokens"}
    for one in read:
        both = [
            column
            for column in one.source.columns
            if column in tags and one.source.task != "tokens"
        ]
        if both:
            raise DataError(
                f"{origin}: {column_names(both)} cannot hold tags of tokens for head"
                f" {tags[both[0]]!r} and labels of texts for head {one.name!r}; give each its"
                " column"
            )


def _without(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    return table.drop_columns([name for name in columns if name in table.column_names])


@contextmanager
def _about(head: HeadRequest) -> Iterator[None]:
    """Errors name the head, and its column where it bears another name."""
    try:
        yield
    except MissingColumn as error:
        raise MissingColumn(
            f"head {head.name!r}: {error}", what=error.what, columns=error.columns
        ) from None
    except DataError as error:
        told = head.columns == [head.name] or quoted(head.columns) in str(error)
        here = "" if told else f" of {column_names(head.columns)}"
        raise DataError(f"head {head.name!r}{here}: {error}") from None
