"""The label space: stable order, counts, encoding by name."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tagwright.errors import DataError
from tagwright.labels.space import LabelSpace

ROWS = some.lists(
    some.lists(some.sampled_from(["b", "a", "ü", "c c", "z"]), max_size=4, unique=True), max_size=9
)


def test_names_are_alphabetical_whatever_order_the_rows_have() -> None:
    rows = [["b", "a"], [], ["c", "a"], ["b"]]
    for arranged in (rows, rows[::-1]):
        space = LabelSpace.of(arranged)
        assert space.names == ("a", "b", "c")
        assert space.counts == (2, 2, 1)
        assert len(space) == 3


def test_null_rows_do_not_count() -> None:
    lists = pa.array([["a"], None, ["b"], None], pa.list_(pa.string()))
    assert LabelSpace.of(lists).counts == (1, 1)


@pytest.mark.parametrize("rows", [[], [[]], [["a"], ["a"]]])
def test_fewer_than_two_labels_is_an_error(rows: list[list[str]]) -> None:
    with pytest.raises(DataError, match="at least two labels"):
        LabelSpace.of(rows)


@given(ROWS)
def test_encoding_equals_a_plain_loop(rows: list[list[str]]) -> None:
    space = LabelSpace(names=("a", "b", "c c"), counts=(0, 0, 0))
    encoded = space.encode(rows)
    wanted = [
        sorted(space.names.index(name) for name in row if name in space.names) for row in rows
    ]
    bounds = encoded.offsets.tolist()
    assert [encoded.ids[start:stop].tolist() for start, stop in pairwise(bounds)] == wanted
    unseen: dict[str, int] = {}
    for name in (name for row in rows for name in row if name not in space.names):
        unseen[name] = unseen.get(name, 0) + 1
    assert encoded.unseen == unseen


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_chunked_and_sliced_columns_encode_like_lists(kind: pa.DataType) -> None:
    rows = [["a"], None, ["b", "a"], [], ["b"]]
    whole = pa.array(rows, pa.list_(kind))
    space = LabelSpace(names=("a", "b"), counts=(2, 2))
    for column in (whole, pa.chunked_array([whole[:2], whole[2:]])):
        assert space.encode(column).offsets.tolist() == [0, 1, 1, 3, 3, 4]
        assert space.encode(column.slice(2)).ids.tolist() == [0, 1, 1]
        assert space.encode(column.slice(2)).offsets.tolist() == [0, 2, 2, 3]


def test_repeated_label_of_a_row_is_encoded_once() -> None:
    encoded = LabelSpace(names=("a", "b"), counts=(1, 1)).encode([["b", "b"]])
    assert encoded.ids.tolist() == [1]


def test_matrix_is_multi_hot() -> None:
    matrix = (
        LabelSpace(names=("a", "b", "c"), counts=(1, 1, 1))
        .encode([["c", "a"], [], ["b"]])
        .matrix(3)
    )
    assert matrix.dtype == np.float32
    assert matrix.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_decode_undoes_encode() -> None:
    space = LabelSpace.of([["x", "y"], ["z"]])
    rows = [["y"], [], ["x", "z"]]
    assert space.decode(space.encode(rows).matrix(3).toarray() > 0) == rows


def test_saved_space_comes_back_the_same(tmp_path: Path) -> None:
    space = LabelSpace.of([["größe"], ["長い", "größe"]], exclusive=False)
    space.save(tmp_path / "labels.json")
    assert (
        LabelSpace.from_dict(json.loads((tmp_path / "labels.json").read_text(encoding="utf-8")))
        == space
    )


@pytest.mark.parametrize(
    "content",
    [
        {"names": ["a", "a"], "counts": [1, 1]},
        {"names": ["a", 1], "counts": [1, 1]},
        {"names": "ab", "counts": [1, 1]},
        {"names": [], "counts": []},
        {"names": ["a", "b"], "counts": [1]},
        {"names": ["a", "b"], "counts": [1, -1]},
        {"names": ["a", "b"], "counts": [1, 1.5]},
        {"names": ["a", "b"]},
        {"names": ["a", "b"], "counts": [1, 1], "exclusive": "yes"},
    ],
)
def test_what_is_no_space_is_refused(content) -> None:
    with pytest.raises((ValueError, KeyError)):
        LabelSpace.from_dict({"exclusive": False, **content})
