"""Every form of labels, made list<string>: a string, a list, a separated string, 0/1 columns,
soft.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Bools, Ints
from tagwright.data.files.faults import Origin
from tagwright.errors import DataError
from tagwright.labels.list_columns import offsets_of

SEPARATORS = (";", "|", ",")
SAMPLE = 200_000  # rows that are looked at to find a separator
SOFT = r"(?s)^(?P<name>.+):(?P<value>0|1|1\.0*|0?\.[0-9]+)$"
BRACKETS = r"(?s)^\s*\[.*\]\s*$"
ON, OFF, UNKNOWN = ("1", "true", "1.0"), ("0", "false", "0.0"), ("",)


class Labels(NamedTuple):
    """`lists` is list<string>: null = unlabelled, [] = none. `values` stand beside, `unknown` names
    the unjudged.
    """

    lists: pa.ListArray
    values: pa.ListArray | None = None
    unknown: pa.ListArray | None = None
    form: str = ""  # how they were written, for a person
    separator: str = "auto"  # how to read more of them the same way

    def columns(self) -> dict[str, pa.ListArray]:
        """Those of the columns `labels`, `values` and `unknown` that there are."""
        found = {"labels": self.lists, "values": self.values, "unknown": self.unknown}
        return {name: column for name, column in found.items() if column is not None}


def from_column(column: pa.Array, separator: str) -> Labels:
    """Labels of one column: lists, strings or numbers. Blanks around a label in a string are
    dropped.

    An empty cell is unlabelled where a cell holds one label, and holds no label where cells are
    split.
    """
    if pa.types.is_list(column.type):
        lists = column.cast(pa.list_(pa.string()))
        return _soft(rebuilt(lists, lists.flatten()), "a list")
    if not pa.types.is_string(column.type):
        column = column.cast(pa.string())  # 1.0 becomes "1"
    # cells recur, so the work is done once for each that differs
    coded = column.dictionary_encode()
    made = _from_cells(pc.utf8_trim_whitespace(coded.dictionary), separator)
    values = None if made.values is None else made.values.take(coded.indices)
    return made._replace(lists=made.lists.take(coded.indices), values=values)


def _from_cells(cells: pa.StringArray, separator: str) -> Labels:
    if separator == "auto" and _all_bracketed(cells):
        return _soft(_from_brackets(cells), "a list in brackets")
    mark = find_separator(cells) if separator == "auto" else separator
    if mark is not None and mark != "none":
        return _soft(_split(cells, mark), f"split at {mark!r}")._replace(separator=mark)
    lists = pa.ListArray.from_arrays(pa.array(np.arange(len(cells) + 1, dtype=np.int32)), cells)
    return _soft(rebuilt(lists, cells, null=pc.equal(cells, "")), "")._replace(separator="none")


def find_separator(column: pa.Array) -> str | None:
    """The separator whose pieces recur in other cells, more than half of them; None when cells hold
    one label each.

    A comma is common inside names, so there the pieces must also be no more than the cells that
    differ.

    >>> many = pa.array(["a;b", "b", "c;a", "c"])
    >>> commas = pa.array(["Home, Garden", "Books, Music"])
    >>> find_separator(many), find_separator(commas)
    (';', None)
    """
    step = max(1, len(column) // SAMPLE)
    cells = pc.unique(column.take(pa.array(np.arange(0, len(column), step)))).drop_null()
    cells = pc.unique(pc.replace_substring_regex(cells, r":[0-9.]+(\s*(?:[;|,]|$))", r"\1"))
    best, best_share = None, 0.5
    for mark in SEPARATORS:
        several = pc.match_substring(cells, mark)
        if not pc.any(several).as_py():
            continue
        pieces = _split(cells, mark)
        counts = pieces.flatten().value_counts()
        recurring = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        share = (
            pc.mean(pc.is_in(pieces.filter(several).flatten(), value_set=recurring)).as_py() or 0.0
        )
        if share > best_share and (mark != "," or len(counts) <= len(cells)):
            best, best_share = mark, share
    return best


def from_flags(columns: dict[str, pa.Array], origin: Origin) -> Labels:
    """Labels of 0/1 columns, a column a label. An empty cell is unknown; a row of empty cells is
    unlabelled.
    """
    names = list(columns)
    states = [_states(name, column, origin) for name, column in columns.items()]
    count = len(states[0])
    unknown = np.sum([state < 0 for state in states], axis=0)
    lists = _named_rows(
        [np.flatnonzero(state > 0) for state in states], names, count, null=unknown == len(names)
    )
    if not unknown.any():
        return Labels(lists, form="a 0/1 column a label")
    unjudged = _named_rows([np.flatnonzero(state < 0) for state in states], names, count)
    return Labels(lists, unknown=unjudged, form="a 0/1 column a label, empty = unknown")


def is_flag(column: pa.Array) -> bool:
    """Whether a column holds only 0, 1, true, false and empty cells, and not empty ones alone."""
    for part in (column.slice(0, 1000), column):  # most columns are ruled out by their first rows
        words = set(_words(pc.unique(part)))
        if not words <= {*ON, *OFF, *UNKNOWN}:
            return False
    return words != set(UNKNOWN)


def rebuilt(lists: pa.ListArray, values: pa.Array, *, null: pa.Array | None = None) -> pa.ListArray:
    """`lists` with other values of the same length, empty and null ones dropped; rows under `null`
    become null.
    """
    kept = pc.fill_null(pc.not_equal(values, ""), False).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(kept, dtype=np.int32)])[offsets_of(lists)]
    values = values if kept.all() else values.filter(pa.array(kept))
    missing = lists.is_null() if null is None else null
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values, mask=missing)


def _split(column: pa.StringArray, mark: str) -> pa.ListArray:
    lists = pc.split_pattern(column, mark)
    return rebuilt(lists, pc.utf8_trim_whitespace(lists.flatten()))


def _soft(lists: pa.ListArray, form: str) -> Labels:
    flat = lists.flatten()
    for part in (flat.slice(0, 1000), flat):  # most columns are ruled out by their first labels
        if not len(part) or not pc.all(pc.match_substring_regex(part, SOFT)).as_py():
            return Labels(lists, form=form)
    if not pc.any(
        pc.match_substring_regex(flat, r":[01]?\.[0-9]*$")
    ).as_py():  # "level:1" is a name
        return Labels(lists, form=form)
    parts = pc.extract_regex(flat, SOFT)
    offsets = pa.array(offsets_of(lists).astype(np.int32))
    names, values = (
        pc.struct_field(parts, "name"),
        pc.struct_field(parts, "value").cast(pa.float32()),
    )
    both = [
        pa.ListArray.from_arrays(offsets, part, mask=lists.is_null()) for part in (names, values)
    ]
    return Labels(
        both[0], values=both[1], form=", ".join(filter(None, [form, "soft (label:value)"]))
    )


def _all_bracketed(column: pa.StringArray) -> bool:
    for part in (column.slice(0, 1000), column):
        if not pc.all(pc.or_(pc.match_substring_regex(part, BRACKETS), pc.equal(part, ""))).as_py():
            return False
    return bool(pc.any(pc.starts_with(column, "[")).as_py())


def _from_brackets(column: pa.StringArray) -> pa.ListArray:
    """Lists as pandas or JSON write them into a cell: ['a', 'b'] or ["a"] or [a, b]."""
    inner = pc.utf8_trim(pc.utf8_trim_whitespace(column), "[]")
    quoted = pc.any(pc.match_substring_regex(inner, r"""^\s*['"]""")).as_py()
    lists = pc.split_pattern_regex(inner, r"""['"]\s*,\s*['"]""" if quoted else ",")
    return rebuilt(lists, pc.utf8_trim(lists.flatten(), " '\"" if quoted else " "))


def _states(name: str, column: pa.Array, origin: Origin) -> Ints:
    """1 on, 0 off, -1 unknown, (n,)."""
    coded = column.dictionary_encode()
    words = [*_words(coded.dictionary), ""]
    state_of = dict.fromkeys(OFF, 0) | dict.fromkeys(ON, 1)
    meaning = np.array([state_of.get(word, -1) for word in words], np.int8)
    codes = pc.fill_null(coded.indices, len(words) - 1).to_numpy(zero_copy_only=False)
    for code, word in enumerate(words):
        if word not in (*ON, *OFF, *UNKNOWN):
            place = origin.at(int(np.flatnonzero(codes == code)[0]))
            raise DataError(
                f"{place}, column {name!r}: {word!r}, expected 0, 1 or empty; a column a label"
                " holds no more"
            )
    return meaning[codes]


def _words(values: pa.Array) -> list[str]:
    return ["" if value is None else str(value).strip().casefold() for value in values.to_pylist()]


def _named_rows(
    rows: list[Ints], names: list[str], count: int, null: Bools | None = None
) -> pa.ListArray:
    all_rows = np.concatenate(rows)
    which = np.repeat(np.arange(len(names)), [len(part) for part in rows])[
        np.argsort(all_rows, kind="stable")
    ]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(all_rows, minlength=count))]).astype(
        np.int32
    )
    mask = None if null is None else pa.array(null)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(names, pa.string()).take(pa.array(which)), mask=mask
    )
