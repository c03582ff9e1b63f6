"""Sparse rows are the rows of the matrix, in the order asked for."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.batches.sparse import SparseRows


@pytest.mark.parametrize("index", [[0], [4, 1, 1, 0], [2], []])
def test_rows_are_those_of_the_matrix_in_the_order_asked_for(index):
    dense = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    dense[dense < 0.6] = 0
    dense[2] = 0
    rows = SparseRows.of(csr_array(dense), np.array(index, np.int64))
    offsets = rows.offsets.tolist()
    for number, row in enumerate(index):
        made = np.zeros(7, np.float32)
        part = slice(offsets[number], offsets[number + 1])
        made[rows.ids[part].numpy()] = rows.values[part].numpy()
        np.testing.assert_array_equal(made, dense[row])
    assert len(offsets) == len(index) + 1
