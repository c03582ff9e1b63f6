"""Slices hold no more than they may, and all rows in their order."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.data.slices import after, bounds, row_bytes, slices

TEXTS = ["a" * n for n in (3, 0, 50, 1, 1, 7, 90, 2)]


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("size", [1, 12, 1000])
def test_every_row_comes_once_in_order_within_both_limits(rows, size):
    table = pa.table({"text": TEXTS, "number": list(range(len(TEXTS)))})
    parts = list(slices(table, rows=rows, size=size))
    assert pa.concat_tables(parts).equals(table)
    assert all(len(part) <= rows for part in parts)
    assert all(len(part) == 1 or row_bytes(part).sum() <= size for part in parts)


def test_a_slice_is_as_full_as_it_may_be():
    sizes = np.array([4, 4, 4, 4, 4])
    assert list(bounds(sizes, rows=10, size=8)) == [(0, 2), (2, 4), (4, 5)]


def test_no_rows_make_no_slice():
    assert list(slices(pa.array([], pa.string()), rows=2, size=2)) == []


def test_a_value_of_a_dictionary_counts_each_time():
    values = pa.array(["x" * 1000, None, "x" * 1000]).dictionary_encode()
    assert row_bytes(values).tolist() == [1004, 0, 1004]


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        (pa.array([["ab", "c"], None, []]), [15, 4, 4]),
        (pa.array([{"a": "xy", "b": 1}, {"a": None, "b": 2}]), [14, 12]),
        (pa.array([1, None, 3], pa.int64()), [9, 9, 9]),
        (pa.array([b"xy", None], pa.large_binary()), [6, 4]),
        (pa.array([["ab", "c"], None], pa.list_(pa.string(), 2)), [15, 4]),
        (pa.array([["ab"], None], pa.list_(pa.dictionary(pa.int32(), pa.string()))), [10, 4]),
        (pa.chunked_array([["a"], ["bcd"]]), [5, 7]),
    ],
)
def test_nested_values_count_with_all_that_they_hold(values, sizes):
    assert row_bytes(values).tolist() == sizes


def test_a_part_of_an_array_counts_by_itself():
    assert row_bytes(pa.array([["long text"], ["a"], ["b", "c"]]).slice(1)).tolist() == [9, 14]


@pytest.mark.parametrize("passed", [0, 1, 2, 3, 4, 9])
def test_rows_after_the_first_are_those_behind_them(passed):
    batches = [pa.record_batch({"n": rows}) for rows in ([0, 1], [2], [3, 4])]
    assert [row["n"] for batch in after(batches, passed) for row in batch.to_pylist()] == [
        0,
        1,
        2,
        3,
        4,
    ][passed:]
