"""Links: logits to probabilities, against plain arithmetic."""

from math import exp

import numpy as np
import pytest

from tagwright.errors import TagwrightError
from tagwright.links import probabilities

LOGITS = np.array([[0.3, -1.2, 2.0], [0.0, 0.0, 0.0], [-3.0, 4.5, 1.0]])


def reference(link: str, exclusive: bool) -> list[list[float]]:
    rows = []
    for logits in LOGITS:
        if link == "softmax":
            row = [exp(s) for s in logits]
        else:
            row = [1 / (1 + exp(-s * (2 if link == "sigmoid2" else 1))) for s in logits]
        rows.append([p / sum(row) for p in row] if exclusive or link == "softmax" else row)
    return rows


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("link", ["sigmoid", "sigmoid2", "softmax", "none"])
def test_probabilities_are_those_of_the_formula(link: str, exclusive: bool):
    found = probabilities(LOGITS, link, exclusive=exclusive)
    np.testing.assert_allclose(found, reference(link, exclusive), rtol=1e-12)


@pytest.mark.parametrize("link", ["sigmoid", "sigmoid2", "softmax"])
def test_enormous_logits_stay_probabilities(link: str):
    with np.errstate(all="raise", under="ignore"):
        found = probabilities(np.array([[1e4, -1e4, 0.0]]), link)
    np.testing.assert_allclose(found[0, :2], [1, 0], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("level", [0.0, -60.0, -1e4, 1e4])
@pytest.mark.parametrize("link", ["sigmoid", "sigmoid2", "softmax"])
def test_rows_of_exclusive_labels_sum_to_one(link: str, level: float, dtype: type):
    logits = (np.array([[0.0, -1.0, -2.0]]) + level).astype(dtype)
    assert probabilities(logits, link, exclusive=True).sum() == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("link", ["sigmoid", "sigmoid2"])
def test_rejected_labels_keep_their_order_when_one_must_be_chosen(link: str):
    """All far below zero: the odds of tiny sigmoids are those of their exponentials."""
    found = probabilities(np.array([[-900.0, -901.0, -903.0]]), link, exclusive=True)
    scale = 2 if link == "sigmoid2" else 1
    odds = [exp(-scale * gap) for gap in (0, 1, 3)]
    np.testing.assert_allclose(found[0], [value / sum(odds) for value in odds], rtol=1e-9)


def test_empty_batch_gives_no_rows():
    assert probabilities(np.zeros((0, 3)), "sigmoid", exclusive=True).shape == (0, 3)


def test_refuses_an_unknown_link():
    with pytest.raises(TagwrightError, match="sigmoyd"):
        probabilities(LOGITS, "sigmoyd")
