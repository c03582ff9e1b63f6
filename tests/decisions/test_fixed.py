"""Fixed: one bar for the probabilities of all labels."""

import numpy as np
import pytest

from tagwright.decisions.fixed import Fixed
from tagwright.errors import SettingsError

PROBABILITIES = np.array([[0.5, 0.51, 0.2], [0.0, 0.1, 0.3], [1.0, 0.9, 0.5]])


@pytest.mark.parametrize("bar", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_labels_above_the_bar_are_chosen(bar: float):
    expected = [[p > bar for p in row] for row in PROBABILITIES.tolist()]
    assert Fixed(probability=bar).choose(np.zeros((3, 3)), PROBABILITIES).tolist() == expected


def test_bar_is_a_half_and_not_reached_by_a_half():
    assert Fixed().choose(np.zeros((1, 2)), np.array([[0.5, 0.5000001]])).tolist() == [
        [False, True]
    ]


def test_logits_have_no_say():
    chosen = [Fixed().choose(sign * np.ones((3, 3)), PROBABILITIES).tolist() for sign in (-1, 1)]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("bar", [-0.1, 1.5, float("nan")])
def test_refuses_what_is_no_probability(bar: float):
    with pytest.raises(SettingsError, match=r"probability must lie in \[0, 1\], got"):
        Fixed(probability=bar)
