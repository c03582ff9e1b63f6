"""Rows: inputs, targets, what nobody judged, and weights stay together."""

import numpy as np
import torch
from scipy.sparse import csr_array

from tagwright.batches.inputs import FeatureInputs
from tagwright.batches.rows import Rows

TARGET = np.array([[1, 0, 0], [0, 1, 0.5], [0, 0, 0]], np.float32)
UNKNOWN = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1]], np.float32)
INDEX = np.array([2, 0])


def rows(**extra):
    return Rows(inputs=FeatureInputs(csr_array(np.eye(3, dtype=np.float32))), target=csr_array(TARGET), **extra)


def test_a_batch_has_the_targets_of_its_rows_in_order():
    batch = rows().batch(INDEX, "cpu")
    assert torch.equal(batch.target, torch.from_numpy(TARGET[INDEX]))
    assert batch.known is None
    assert batch.weight is None


def test_what_nobody_judged_is_not_known():
    batch = rows(unknown=csr_array(UNKNOWN)).batch(INDEX, "cpu")
    assert batch.known.dtype == torch.bool
    assert batch.known.tolist() == (UNKNOWN[INDEX] == 0).tolist()


def test_weights_go_with_their_rows():
    batch = rows(weight=np.array([1.0, 2.0, 3.0], np.float32)).batch(INDEX, "cpu")
    assert batch.weight.tolist() == [3.0, 1.0]


def test_excused_labels_go_with_their_rows():
    excused = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1]], bool)
    batch = rows(excused=csr_array(excused)).batch(INDEX, "cpu")
    assert batch.excused.dtype == torch.bool
    assert batch.excused.tolist() == excused[INDEX].tolist()
    assert rows().batch(INDEX, "cpu").excused is None


def test_added_rows_follow_one_another():
    both = rows() + rows()
    assert torch.equal(both.batch(np.array([4, 1]), "cpu").target, torch.from_numpy(TARGET[[1, 1]]))
    assert len(both.inputs.lengths) == 6
    assert both.unknown is None
    assert both.weight is None


def test_rows_without_weights_or_unknowns_count_fully_beside_rows_that_have_them():
    both = rows() + rows(weight=np.array([2.0, 3.0, 4.0], np.float32), unknown=csr_array(UNKNOWN))
    batch = both.batch(np.arange(6), "cpu")
    assert batch.weight.tolist() == [1, 1, 1, 2, 3, 4]
    assert batch.known[:3].all()
    assert batch.known[3:].tolist() == (UNKNOWN == 0).tolist()


def test_sparse_rows_name_their_cells():
    batch = rows(unknown=csr_array(UNKNOWN), sparse=True).batch(INDEX, "cpu")
    assert torch.equal(batch.target.dense(3), torch.from_numpy(TARGET[INDEX]))
    assert torch.equal(batch.known.dense(3), torch.from_numpy(UNKNOWN[INDEX] == 0))
    assert rows(sparse=True).batch(INDEX, "cpu").known is None
    assert (rows(sparse=True) + rows(sparse=True)).sparse
