"""TopK: the k highest scores."""

import numpy as np
import pytest

from tagwright.decisions.topk import TopK
from tagwright.errors import SettingsError


def reference(row: list[float], k: int) -> list[bool]:
    best = sorted(range(len(row)), key=lambda label: (-row[label], label))[:k]
    return [label in best for label in range(len(row))]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 9])
def test_highest_scores_are_chosen_equals_in_label_order(k: int):
    rng = np.random.default_rng(k)
    logits = np.round(rng.normal(size=(41, 7)), 1)
    logits[0] = 0.0
    chosen = TopK(k=k).choose(logits, np.zeros_like(logits))
    assert chosen.dtype == bool
    assert chosen.tolist() == [reference(row, k) for row in logits.tolist()]


def test_three_labels_by_default():
    assert TopK().choose(np.arange(10.0).reshape(2, 5), np.zeros((2, 5))).sum(1).tolist() == [3, 3]


def test_no_texts_give_no_rows():
    assert TopK(k=2).choose(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


def test_refuses_less_than_one():
    with pytest.raises(SettingsError, match="k must be at least 1, got 0"):
        TopK(k=0)
