"""Tokens: flat ids and where each text begins."""

import numpy as np

from tagwright.tokenizers.tokens import Tokens


def test_lengths_and_count_come_from_the_offsets():
    tokens = Tokens(np.array([5, 6, 7], np.int32), np.array([0, 2, 2, 3]))
    assert len(tokens) == 3
    assert tokens.lengths.tolist() == [2, 0, 1]


def test_no_texts_are_no_tokens():
    tokens = Tokens(np.empty(0, np.int32), np.zeros(1, np.int64))
    assert len(tokens) == 0
    assert tokens.lengths.tolist() == []


def test_word_is_the_id_or_the_first_of_several():
    offsets = np.array([0, 1, 2])
    assert Tokens(np.array([5, 6], np.int32), offsets).words.tolist() == [5, 6]
    assert Tokens(np.array([[5, 9], [6, 9]], np.int32), offsets).words.tolist() == [5, 6]
