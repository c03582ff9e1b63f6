"""Where rows of lists begin."""

import itertools

import numpy as np
import pyarrow as pa

from tagwright.labels.list_columns import offsets_of


def test_offsets_part_the_flat_values():
    rows = [["a"], [], None, ["b", "c"], None]
    lists = pa.array(rows, pa.list_(pa.string()))
    offsets, flat = offsets_of(lists), lists.flatten().to_pylist()
    assert [flat[a:b] for a, b in itertools.pairwise(offsets)] == [row or [] for row in rows]


def test_a_slice_begins_at_0():
    lists = pa.array([["a", "b"], ["c"], ["d"]]).slice(1)
    assert offsets_of(lists).tolist() == [0, 1, 2]
    assert offsets_of(lists).dtype == np.int64
