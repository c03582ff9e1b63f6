"""Row-wise metrics against scikit-learn, the paper's convention against plain loops."""

import numpy as np
from sklearn import metrics as sklearn_metrics

from tagwright.metrics.examples import Examples

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


def test_example_metrics_equal_scikit_learn(cases):
    options = {"average": "samples", "zero_division": 0}
    for case in cases:
        pair = case.truth, case.chosen
        expected = {
            "subset_accuracy": sklearn_metrics.accuracy_score(*pair),
            "example_precision": sklearn_metrics.precision_score(*pair, **options),
            "example_recall": sklearn_metrics.recall_score(*pair, **options),
            "example_f1": sklearn_metrics.f1_score(*pair, **options),
            "example_f2": sklearn_metrics.fbeta_score(*pair, beta=2, **options),
        }
        results = Examples.of(*case).results()
        for name, value in expected.items():
            np.testing.assert_allclose(results[name], value, err_msg=name, **TOLERANCE)


def test_paper_convention_gives_rows_without_labels_one(cases):
    for case in cases:
        total = 0.0
        for true, chosen in zip(case.truth, case.chosen):
            size = sum(true) + sum(chosen)
            total += 2 * sum(true & chosen) / size if size else 1
        found = Examples.of(*case).results(convention="paper")["example_f1"]
        np.testing.assert_allclose(found, total / len(case.truth), **TOLERANCE)


def test_paper_convention_gives_a_missed_row_zero():
    truth, chosen = np.array([[True, False]]), np.array([[False, False]])
    found = Examples.of(np.zeros((1, 2)), truth, chosen).results(convention="paper")
    assert found["example_precision"] == found["example_f1"] == 0


def test_cardinalities_and_empty_predictions_are_counted(cases):
    for case in cases:
        results = Examples.of(*case).results()
        rows = len(case.truth)
        assert results["true_cardinality"] == sum(map(sum, case.truth.tolist())) / rows
        assert results["predicted_cardinality"] == sum(map(sum, case.chosen.tolist())) / rows
        assert (
            results["empty_prediction_share"]
            == sum(not any(row) for row in case.chosen.tolist()) / rows
        )


def test_accuracy_of_exclusive_rows_equals_scikit_learn(exclusive):
    ids = exclusive.truth.argmax(axis=1), exclusive.chosen.argmax(axis=1)
    assert Examples.of(*exclusive).results()["accuracy"] == sklearn_metrics.accuracy_score(*ids)


def test_accuracy_is_absent_once_a_row_is_not_exclusive(exclusive):
    for part in ("truth", "chosen"):
        for value in (True, False):
            changed = getattr(exclusive, part).copy()
            changed[3] = value
            assert "accuracy" not in Examples.of(*exclusive._replace(**{part: changed})).results()
