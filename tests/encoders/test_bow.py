"""The bag of words gives its n-grams to the head, and nothing of its own."""

import numpy as np
import torch

from tagwright.batches.sparse import SparseRows
from tagwright.batches.tokens import Tokens
from tagwright.encoders.bow import BagOfWords

TEXTS = Tokens(np.array([2, 3, 2, 3, 4, 1, 4], np.int32), np.array([0, 2, 5, 7, 7]))


def test_padding_and_unknown_words_are_no_features():
    learned = BagOfWords.learn(TEXTS, longest=1)
    assert learned["keys_1"].tolist() == [2, 3, 4]


def test_features_of_a_text_are_one_long_and_those_of_an_empty_text_nothing():
    encoder = BagOfWords(BagOfWords.learn(TEXTS))
    rows = encoder.features(TEXTS)
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    np.testing.assert_allclose(lengths, [1, 1, 1, 0], rtol=1e-6)
    assert rows.shape[1] == encoder.width_out


def test_rows_go_through_unchanged_and_there_is_nothing_to_train():
    encoder = BagOfWords(BagOfWords.learn(TEXTS))
    rows = SparseRows.of(encoder.features(TEXTS), np.array([1, 0]))
    pooled = encoder(*rows).pooled
    assert all(torch.equal(a, b) for a, b in zip(pooled, rows))
    assert list(encoder.parameters()) == []
