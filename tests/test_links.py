"""Links: logits to probabilities, against plain arithmetic."""

from math import exp, log

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from tagwright.errors import TagwrightError
from tagwright.links import (
    Calibration,
    calibrated,
    log_terms,
    probabilities,
    some_probabilities,
    unfocused,
)

LOGITS = np.array([[0.3, -1.2, 2.0], [0.0, 0.0, 0.0], [-3.0, 4.5, 1.0]])


def reference(link: str, exclusive: bool) -> list[list[float]]:
    rows = []
    for logits in LOGITS:
        if link == "softmax" or (link == "none" and exclusive):
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


def test_calibration_finds_the_line_that_made_the_labels():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (4000, 3))
    truth = rng.random(logits.shape) < 1 / (1 + np.exp(-(0.5 * logits - 1)))
    np.testing.assert_allclose(calibrated(logits, truth), (0.5, -1.0, 0.0), atol=0.05)
    values = probabilities(logits, "none", calibration=Calibration(0.5, -1.0))
    np.testing.assert_allclose(values, 1 / (1 + np.exp(-(0.5 * logits - 1))), rtol=1e-12)


def test_calibration_of_exclusive_labels_is_a_temperature():
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 1, (4000, 4))
    weights = np.exp(3 * logits)
    drawn = (weights.cumsum(1) / weights.sum(1, keepdims=True) < rng.random((4000, 1))).sum(1)
    found = calibrated(logits, np.eye(4)[drawn] > 0, exclusive=True)
    assert found.offset == 0
    assert found.slope == pytest.approx(3, rel=0.05)


@pytest.mark.parametrize("level", [0.0, 1e4])
def test_calibration_of_constant_logits_is_finite(level: float):
    assert np.isfinite(calibrated(np.full((5, 2), level), np.eye(5, 2) > 0)).all()


def test_a_few_rows_in_perfect_order_give_platts_slope_and_no_endless_one():
    """Two of each: Platt's targets are 3/4 and 1/4, which a slope of log 3 gives at logits of 1 and
    -1.
    """
    found = calibrated(
        np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([[True], [True], [False], [False]])
    )
    np.testing.assert_allclose(found, (np.log(3), 0.0, 0.0), atol=1e-4)


def test_a_few_exclusive_rows_in_perfect_order_give_no_endless_slope():
    """Three rows of three labels: the target of the gold one is 4/6, of the others 1/6."""
    assert calibrated(np.eye(3), np.eye(3) > 0, exclusive=True).slope == pytest.approx(
        np.log(4), rel=1e-4
    )


def test_an_exclusive_row_without_a_label_has_no_say():
    logits, truth = np.eye(3), np.eye(3) > 0
    truth[2] = False
    moved = logits.copy()
    moved[2] = [5.0, -7.0, 0.0]
    assert calibrated(logits, truth, exclusive=True) == pytest.approx(
        calibrated(moved, truth, exclusive=True), rel=0.01
    )


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("link", ["sigmoid", "sigmoid2", "softmax", "threshold_class"])
def test_some_labels_have_the_probabilities_they_have_among_all(link: str, exclusive: bool):
    terms = log_terms(link, exclusive=exclusive)
    log_sum = None if terms is None else terms(torch.from_numpy(LOGITS)).logsumexp(-1).numpy()
    found = some_probabilities(LOGITS[:, [2, 0]], log_sum, link)
    np.testing.assert_allclose(
        found, probabilities(LOGITS, link, exclusive=exclusive)[:, [2, 0]], rtol=1e-12
    )


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("share", [0.003, 0.2, 0.5, 0.6, 0.98])
def test_a_logit_at_which_focal_loss_is_least_has_the_share_of_its_label(
    gamma: float, share: float
):
    def mean_loss(logit: float) -> float:
        chance = 1 / (1 + exp(-logit))
        return -share * (1 - chance) ** gamma * log(chance) - (1 - share) * chance**gamma * log(
            1 - chance
        )

    least = minimize_scalar(
        mean_loss, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10}
    ).x
    found = probabilities(np.array([[least]]), "sigmoid", calibration=Calibration(gamma=gamma))
    assert found.item() == pytest.approx(share, rel=1e-4)


def test_without_a_gamma_logits_are_log_odds():
    np.testing.assert_allclose(unfocused(LOGITS, 0.0), LOGITS, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exclusive", [False, True])
def test_focal_probabilities_keep_the_order_and_stay_finite(dtype: type, exclusive: bool):
    logits = np.array([[-1e4, -900.0, -3.0, 0.0, 1e-6, 2.0, 80.0]], dtype)
    with np.errstate(all="raise", under="ignore"):
        found = probabilities(
            logits, "sigmoid", exclusive=exclusive, calibration=Calibration(gamma=2.0)
        )
        odds = unfocused(np.append(logits, [1e4, 1e30]).astype(dtype), 2.0)
    assert odds.dtype == dtype
    assert np.isfinite(found).all()
    assert np.isfinite(odds).all()
    assert (np.diff(odds) > 0).all()


def test_some_of_very_many_labels_are_corrected_as_all_are():
    own = Calibration(gamma=2.0)
    found = some_probabilities(LOGITS[:, [2, 0]], None, "sigmoid", own)
    np.testing.assert_array_equal(
        found, probabilities(LOGITS, "sigmoid", calibration=own)[:, [2, 0]]
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ((0.0,), "slope"),
        ((-1.0,), "slope"),
        ((1e308, -1e308), "slope"),
        ((float("nan"),), "slope"),
        ((1.0, -1e308), "offset"),
        ((1.0, 0.0, -10.0), "gamma"),
        ((1.0, 0.0, 1e308), "gamma"),
    ],
)
def test_a_line_that_turns_the_order_or_overflows_is_refused(line: tuple[float, ...], name: str):
    with pytest.raises(ValueError, match=f"the {name} of a calibration must be from"):
        Calibration(*line).bounded()


@pytest.mark.parametrize("slope", [1e-9, float(np.exp(-20)), float(np.exp(20)), 1e9])
@pytest.mark.parametrize("offset", [-1e3, 1e3])
@pytest.mark.parametrize("gamma", [0.0, 1e6])
def test_a_line_within_its_bounds_gives_finite_log_odds(slope: float, offset: float, gamma: float):
    logits = np.array([[-1e20, -80.0, 0.0, 1e-6, 80.0, 1e20]], np.float32)
    odds = Calibration(slope, offset, gamma).bounded().log_odds(logits)
    assert np.isfinite(odds).all()
    assert (np.diff(odds) >= 0).all()
