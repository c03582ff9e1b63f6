"""Inputs: rows by number, joined end to end."""

import numpy as np
import torch
from scipy.sparse import csr_array

from tagwright.batches.inputs import FeatureInputs, TokenInputs
from tagwright.tokenizers.tokens import Tokens


def token_inputs(rows, limit=512):
    ids = np.array([i for row in rows for i in row], np.int32)
    return TokenInputs(Tokens(ids, np.cumsum([0, *map(len, rows)]).astype(np.int64)), limit)


def dense_of(tensors, width):
    ids, values, offsets = (t.numpy() for t in tensors)
    result = np.zeros((len(offsets) - 1, width), np.float32)
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            result[row, ids[place]] += values[place]
    return result


MATRIX = csr_array(np.array([[0, 2, 0], [1, 0, 3], [0, 0, 0], [4, 5, 6]], np.float32))


def test_a_batch_of_tokens_is_in_the_order_asked_for():
    ids, lengths = token_inputs([[1], [2, 3], [], [4, 5, 6]]).batch(np.array([3, 0, 2]))
    assert ids.tolist() == [[4, 5, 6], [1, 0, 0], [0, 0, 0]]
    assert lengths.tolist() == [3, 1, 0]


def test_lengths_and_batches_stop_at_the_limit():
    inputs = token_inputs([[1, 2, 3], [4]], limit=2)
    assert inputs.lengths.tolist() == [2, 1]
    assert inputs.batch(np.array([0]))[0].tolist() == [[1, 2]]
    assert inputs.ends == (2, 0)


def test_joined_tokens_are_the_rows_of_both():
    rows, others = [[1], [], [2, 3]], [[4, 5], []]
    joined = token_inputs(rows, 9).joined(token_inputs(others, 9))
    for number, row in enumerate(rows + others):
        ids, length = joined.batch(np.array([number]))
        assert ids[0, : length[0]].tolist() == row
    assert joined.limit == 9


def test_a_batch_of_features_is_those_rows_of_the_matrix():
    index = np.array([3, 2, 0])
    np.testing.assert_array_equal(
        dense_of(FeatureInputs(MATRIX).batch(index), 3), MATRIX.toarray()[index]
    )


def test_a_feature_row_costs_its_features():
    assert FeatureInputs(MATRIX).lengths.tolist() == [1, 2, 0, 3]


def test_joined_features_are_the_rows_of_both():
    joined = FeatureInputs(MATRIX).joined(FeatureInputs(MATRIX[:2]))
    expected = np.concatenate([MATRIX.toarray(), MATRIX.toarray()[:2]])
    np.testing.assert_array_equal(dense_of(joined.batch(np.arange(6)), 3), expected)


def test_batches_are_tensors():
    for inputs in (token_inputs([[1]]), FeatureInputs(MATRIX)):
        assert all(isinstance(t, torch.Tensor) for t in inputs.batch(np.array([0])))
