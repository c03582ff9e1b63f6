"""Zero: labels whose logit is above 0."""

import numpy as np

from tagwright.decisions.zero import Zero


def test_labels_above_zero_are_chosen():
    logits = np.array([[0.1, -0.1, 1e4], [-1e4, -2.0, -1e-9], [1e-9, 3.0, 0.5]])
    expected = [[s > 0 for s in row] for row in logits.tolist()]
    chosen = Zero().choose(logits, np.full((3, 3), 0.5))
    assert chosen.dtype == bool
    assert chosen.tolist() == expected


def test_zero_itself_is_not_chosen():
    assert Zero().choose(np.array([[0.0, -0.0]]), np.full((1, 2), 0.5)).tolist() == [[False, False]]


def test_probabilities_have_no_say():
    """sigmoid(s) of a tiny float32 score rounds to a half; the score still decides."""
    logits = np.array([[1e-12, -1e-12]], np.float32)
    assert Zero().choose(logits, np.array([[0.5, 0.5]], np.float32)).tolist() == [[True, False]]
