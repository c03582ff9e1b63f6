"""The report of `tagwright check`. The form of a fact decides how it is shown, so the audit may grow without an edit here.

A number is a figure; sentences are a list; numbers by name are bars or a long tail, by number or between `edges` a
histogram; rows are a table, or pairs that open where they carry texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tagwright.report import plots
from tagwright.report.page import MOST_ROWS, Card, Cell, Figure, Table, number, render

FEW = 4  # as many numbers or fewer are told, not drawn
MOST_PAIRS = 30
Kind = Literal["figure", "pairs", "table", "sentences", "examples"]


class Block(NamedTuple):
    """A piece of a section; what `content` is depends on the kind."""

    kind: Kind
    title: str
    content: Any


class Example(NamedTuple):
    """A row that carries texts: its names, its figures, the texts."""

    names: list[str]
    figures: str
    texts: list[str]


def check_report(facts: Mapping[str, Any], *, title: str = "Data check") -> str:
    """One self-contained HTML page of an audit's `as_dict()`. Empty facts are left out; `warnings` come first."""
    plain = {key: value for key, value in facts.items() if _is_number(value)}
    told = {key: value for key, value in facts.items() if isinstance(value, str) and value}
    sections = [
        (words(key), list(_blocks("", value)))
        for key, value in facts.items()
        if key not in plain and key not in told and key != "warnings" and _holds(value)
    ]
    return render(
        "check.html.j2",
        title=title,
        told={words(key): value for key, value in told.items()},
        cards=[Card(words(key), number(value)) for key, value in plain.items()],
        warnings=facts.get("warnings") or (),
        sections=[(name, blocks) for name, blocks in sections if blocks],
    )


def words(key: object) -> str:
    """A key as a heading.

    >>> words("look_alikes")
    'Look alikes'
    """
    text = str(key).replace("_", " ").strip()
    return text[:1].upper() + text[1:]


def _blocks(title: str, value: Any) -> Iterator[Block]:
    """How to show a value under a heading; a mapping of several forms gives a block for each."""
    if isinstance(value, Mapping):
        yield from _mapping(title, value)
    elif _is_number(value) or isinstance(value, str):
        yield Block("pairs", "", {title: _told(value)})
    elif all(isinstance(row, Mapping) for row in value):
        yield _rows(title, list(value))
    else:
        yield Block("sentences", title, [_told(item) for item in value])


def _mapping(title: str, value: Mapping[Any, Any]) -> Iterator[Block]:
    if {"edges", "counts"} <= set(value):
        edges = list(value["edges"])
        svg = plots.columns(edges[:-1], edges[1:], value["counts"], x_title=title.lower(), y_title="texts")
        yield Block("figure", title, Figure(title, svg))
        value = {key: item for key, item in value.items() if key not in ("edges", "counts")}
    elif len(value) > FEW and all(_is_number(item) for item in value.values()) and "quantile" not in title.lower():
        yield Block("figure", title, Figure(title, _drawn(value)))
        return
    elif value and all(isinstance(item, Mapping) and _flat(item) for item in value.values()):
        yield _rows(title, [{"": key, **item} for key, item in value.items()])
        return
    plain = {str(key): _told(item) for key, item in value.items() if _is_number(item) or isinstance(item, str)}
    if plain:
        yield Block("pairs", title, plain)
    for key, item in value.items():
        if str(key) not in plain and _holds(item):
            yield from _blocks(words(key), item)


def _drawn(value: Mapping[Any, float]) -> str:
    """Numbers by name; keys that are numbers make a histogram of width one."""
    keys = [str(key) for key in value]
    if not all(key.isdigit() for key in keys):
        return plots.long_tail(keys, list(value.values()), title="texts")
    pairs = sorted((int(key), count) for key, count in value.items())
    starts = [key - 0.5 for key, _ in pairs]
    counts = [count for _, count in pairs]
    return plots.columns(starts, [start + 1 for start in starts], counts, x_title="number", y_title="texts")


def _rows(title: str, rows: Sequence[Mapping[str, Any]]) -> Block:
    """A table; rows that carry texts become pairs that open."""
    if any(not _flat(row) for row in rows):
        return Block("examples", title, [_example(row) for row in rows[:MOST_PAIRS]])
    keys = list(dict.fromkeys(key for row in rows for key in row))
    keys.sort(key=lambda key: not all(isinstance(row.get(key, ""), str) for row in rows))  # names first
    cells = [[_cell(row.get(key)) for key in keys] for row in rows[:MOST_ROWS]]
    columns = [(words(key), "") for key in keys]
    return Block("table", title, Table(columns=columns, rows=cells, sorted_by=None, left_out=len(rows) - len(cells)))


def _example(row: Mapping[str, Any]) -> Example:
    names = [value for value in row.values() if isinstance(value, str)]
    figures = " · ".join(f"{words(key).lower()} {number(value)}" for key, value in row.items() if _is_number(value))
    return Example(names, figures, [text for value in row.values() for text in _texts(value)])


def _texts(value: Any) -> Iterator[str]:
    """The strings inside lists and mappings of any depth; a string by itself is a name, not a text."""
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for item in inside:
        if isinstance(item, str):
            yield item
        else:
            yield from _texts(item)


def _cell(value: Any) -> Cell:
    return Cell(_told(value), float(value)) if _is_number(value) else Cell("–" if value is None else str(value))


def _told(value: Any) -> str:
    return number(value) if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flat(row: Mapping[str, Any]) -> bool:
    return all(value is None or isinstance(value, str | int | float) for value in row.values())


def _holds(value: Any) -> bool:
    """Whether there is anything to show."""
    return isinstance(value, Mapping | list | tuple | str) and len(value) > 0 or _is_number(value)
