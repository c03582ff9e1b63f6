"""Rows: inputs, targets, what nobody judged, and weights stay together."""

import numpy as np
import torch
from scipy.sparse import csr_array

from tagwright.batches.inputs import FeatureInputs
from tagwright.batches.places import TagInputs, placed
from tagwright.batches.rows import Rows
from tagwright.batches.tokens import Tokens

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


def tag_rows(limit=4, overlap=2):
    """Windows of texts with 6, 0 and 3 tokens of one piece; the tag of token t is t % 5."""
    pieces, offsets = Tokens(np.arange(1, 10, dtype=np.int32), np.arange(10)), np.array([0, 6, 6, 9])
    inputs = TagInputs(placed(pieces, offsets, limit=limit, overlap=overlap), limit)
    owner = inputs.places.owner
    tags = np.where(owner < 0, -1, owner % 5)
    return Rows(inputs=inputs, target=csr_array((len(inputs.lengths), 0), dtype=np.float32), tags=tags)


def test_a_batch_has_the_tags_of_its_windows_and_none_behind_them():
    made = tag_rows()
    index = np.arange(len(made.inputs.lengths))[::-1]
    batch = made.batch(index, "cpu")
    ids, lengths = batch.inputs
    assert batch.tags.shape == ids.shape
    assert (batch.tags[torch.arange(ids.shape[1]) >= lengths[:, None]] == -1).all()
    spoken = batch.tags >= 0
    assert sorted(ids[spoken].tolist()) == list(range(1, 10))
    assert batch.tags[spoken].tolist() == ((ids[spoken] - 1) % 5).tolist()


def test_windows_count_as_many_as_they_have_tags():
    made = tag_rows()
    assert made.sizes.sum() == 9
    for row, size in enumerate(made.sizes):
        assert (made.batch(np.array([row]), "cpu").tags >= 0).sum() == size
    assert rows().sizes is None


def test_added_rows_have_the_tags_of_both():
    first, second = tag_rows(), tag_rows(overlap=1)
    both, count = first + second, len(first.inputs.lengths)
    expected = second.batch(np.array([0]), "cpu")
    found = both.batch(np.array([count]), "cpu")
    assert torch.equal(found.tags, expected.tags)
    assert torch.equal(found.inputs[0], expected.inputs[0])
    assert both.sizes.tolist() == [*first.sizes, *second.sizes]
