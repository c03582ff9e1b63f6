"""Average precision against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from tagwright.metrics.average_precision import AveragePrecision

TOLERANCE = {"rtol": 1e-11, "atol": 1e-12}


def test_macro_is_scikit_learns_over_labels_with_a_positive(cases):
    for case in cases:
        seen = case.truth.any(axis=0)
        results = AveragePrecision.of(*case).results()
        assert results["labels_with_positives"] == seen.sum()
        values = [
            average_precision_score(case.truth[:, i], case.scores[:, i])
            for i in np.flatnonzero(seen)
        ]
        np.testing.assert_allclose(
            results["macro_average_precision"], np.mean(values) if values else 0, **TOLERANCE
        )


@pytest.mark.filterwarnings("ignore:No positive class")
def test_macro_times_the_share_of_labels_with_positives_is_scikit_learns(cases):
    for case in cases:
        results = AveragePrecision.of(*case).results()
        share = results["labels_with_positives"] / case.truth.shape[1]
        expected = average_precision_score(case.truth, case.scores, average="macro")
        np.testing.assert_allclose(
            results["macro_average_precision"] * share, expected, **TOLERANCE
        )


@pytest.mark.filterwarnings("ignore:No positive class")
def test_micro_equals_scikit_learn(cases):
    for case in cases:
        expected = average_precision_score(case.truth, case.scores, average="micro")
        results = AveragePrecision.of(*case).results()
        np.testing.assert_allclose(results["micro_average_precision"], expected, **TOLERANCE)


def test_labels_without_positives_are_nan():
    truth = np.array([[True, False], [False, False]])
    found = AveragePrecision.of(np.array([[0.2, 0.1], [0.7, 0.4]]), truth, truth).per_label()
    assert found[0] == 0.5
    assert np.isnan(found[1])


def test_state_keeps_four_bytes_and_a_bit_a_cell():
    truth = np.zeros((41, 37), bool)
    state = AveragePrecision.of(np.zeros((41, 37)), truth, truth)
    assert state.scores[0].nbytes == 41 * 37 * 4
    assert state.truth[0].nbytes == 41 * 5
