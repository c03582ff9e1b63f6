"""Calibration error against plain loops over cells and bins; scikit-learn has the curve of one
label only.
"""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from tagwright.metrics.calibration import CalibrationErrors


def loop_error(probabilities: list[float], outcomes: list[float]) -> float:
    total = 0.0
    for i in range(15):
        lower, upper = i / 15, (i + 1) / 15
        inside = [
            j for j, p in enumerate(probabilities) if lower <= p < upper or (i == 14 and p == 1)
        ]
        if inside:
            confidence = sum(probabilities[j] for j in inside) / len(inside)
            frequency = sum(outcomes[j] for j in inside) / len(inside)
            total += len(inside) / len(probabilities) * abs(confidence - frequency)
    return total


def test_error_equals_plain_loops(cases):
    for case in cases:
        found = CalibrationErrors.of(*case).results()["calibration_error"]
        assert found == pytest.approx(
            loop_error(case.scores.ravel().tolist(), case.truth.ravel().tolist()), abs=1e-12
        )


def test_top_error_equals_plain_loops(exclusive):
    right = exclusive.truth[np.arange(401), exclusive.scores.argmax(axis=1)]
    found = CalibrationErrors.of(*exclusive).results()["top_calibration_error"]
    assert found == pytest.approx(
        loop_error(exclusive.scores.max(axis=1).tolist(), right.tolist()), abs=1e-12
    )


def test_top_error_averages_over_tied_labels():
    truth = np.array([[True, False, False]])
    found = CalibrationErrors.of(np.array([[0.4, 0.4, 0.2]]), truth, truth).results()
    assert found["top_calibration_error"] == pytest.approx(0.5 - 0.4)


def test_top_error_is_absent_once_a_row_is_not_exclusive(exclusive):
    truth = exclusive.truth.copy()
    truth[5] = False
    assert (
        "top_calibration_error"
        not in CalibrationErrors.of(exclusive.scores, truth, exclusive.chosen).results()
    )


def test_scores_outside_zero_and_one_have_no_calibration(cases):
    case = cases[-5]
    inside = CalibrationErrors.of(*case)
    for score in (-0.1, 1.1, np.inf):
        scores = case.scores.copy()
        scores[0, 0] = score
        assert (inside + CalibrationErrors.of(scores, case.truth, case.chosen)).results() == {}


def test_reliability_equals_scikit_learns_curve(exclusive):
    scores, truth = exclusive.scores[:, :1], exclusive.truth[:, :1]
    curve = CalibrationErrors.of(scores, truth, truth).reliability()
    frequency, confidence = calibration_curve(truth[:, 0], scores[:, 0], n_bins=15)
    filled = curve["count"] > 0
    np.testing.assert_allclose(curve["frequency"][filled], frequency, rtol=1e-12)
    np.testing.assert_allclose(curve["confidence"][filled], confidence, rtol=1e-12)
    assert np.isnan(curve["frequency"][~filled]).all()
    assert curve["lower"].tolist() == [i / 15 for i in range(15)]


def test_reliability_of_the_highest_counts_every_row_once(exclusive):
    assert CalibrationErrors.of(*exclusive).reliability(top=True)["count"].sum() == 401
