"""Argmax: exactly one label."""

import numpy as np

from tagwright.decisions.argmax import Argmax


def test_highest_score_is_chosen_alone():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(41, 7))
    expected = [
        [label == max(range(7), key=row.__getitem__) for label in range(7)]
        for row in logits.tolist()
    ]
    chosen = Argmax().choose(logits, np.zeros_like(logits))
    assert chosen.dtype == bool
    np.testing.assert_array_equal(chosen, expected)


def test_first_of_equals_is_chosen():
    logits = np.array([[1.0, 3.0, 3.0], [0.0, 0.0, 0.0]])
    assert Argmax().choose(logits, logits).tolist() == [[False, True, False], [True, False, False]]


def test_one_label_is_chosen_though_all_scores_are_low():
    logits = np.full((2, 3), -1e4)
    assert Argmax().choose(logits, np.zeros((2, 3))).sum(1).tolist() == [1, 1]


def test_no_texts_give_no_rows():
    assert Argmax().choose(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)
