"""Counts against scikit-learn, and the paper's convention against plain loops."""

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from tagwright.errors import ShapeError
from tagwright.metrics.counts import Counts

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


def fractions(truth: np.ndarray, chosen: np.ndarray, average: str | None) -> dict[str, np.ndarray]:
    """scikit-learn's four."""
    options = {"average": average, "zero_division": 0}
    return {
        "precision": sklearn_metrics.precision_score(truth, chosen, **options),
        "recall": sklearn_metrics.recall_score(truth, chosen, **options),
        "f1": sklearn_metrics.f1_score(truth, chosen, **options),
        "f2": sklearn_metrics.fbeta_score(truth, chosen, beta=2, **options),
    }


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_averages_equal_scikit_learn(cases, average: str):
    for case in cases:
        results = Counts.of(*case).results()
        for name, expected in fractions(case.truth, case.chosen, average).items():
            np.testing.assert_allclose(results[f"{average}_{name}"], expected, **TOLERANCE)


def test_labels_one_by_one_equal_scikit_learn(cases):
    for case in cases:
        found = Counts.of(*case).per_label()
        for name, expected in fractions(case.truth, case.chosen, None).items():
            np.testing.assert_allclose(found[name], expected, **TOLERANCE)
        assert found["support"].tolist() == case.truth.sum(axis=0).tolist()
        assert found["predicted"].tolist() == case.chosen.sum(axis=0).tolist()


def test_hamming_and_jaccard_equal_scikit_learn(cases):
    for _, truth, chosen in cases:
        results = Counts.of(truth.astype(float), truth, chosen).results()
        jaccard = sklearn_metrics.jaccard_score(truth, chosen, average="micro", zero_division=0)
        np.testing.assert_allclose(
            results["hamming_loss"], sklearn_metrics.hamming_loss(truth, chosen), **TOLERANCE
        )
        np.testing.assert_allclose(results["micro_jaccard"], jaccard, **TOLERANCE)


def loop_f1(hits: int, true: int, chosen: int, *, empty: float) -> float:
    if true + chosen == 0:
        return empty
    return 2 * hits / (true + chosen)


def test_paper_convention_gives_unused_labels_one(cases):
    for case in cases:
        expected = []
        for label in range(case.truth.shape[1]):
            column = list(zip(case.truth[:, label], case.chosen[:, label]))
            hits, true, chosen = (
                sum(t and c for t, c in column),
                sum(t for t, _ in column),
                sum(c for _, c in column),
            )
            expected.append(loop_f1(hits, true, chosen, empty=1.0))
        results = Counts.of(*case).results(convention="paper")
        np.testing.assert_allclose(results["macro_f1"], sum(expected) / len(expected), **TOLERANCE)


def test_paper_convention_changes_nothing_but_unused_labels():
    truth = np.array([[True, False, False], [True, True, False]])
    chosen = np.array([[True, False, False], [False, False, False]])
    found = Counts.of(truth.astype(float), truth, chosen).per_label(convention="paper")
    assert found["precision"].tolist() == [1, 0, 1]
    assert found["recall"].tolist() == [0.5, 0, 1]


def test_micro_of_nothing_is_zero_for_scikit_learn_and_one_for_the_paper():
    nothing = np.zeros((3, 2), bool)
    state = Counts.of(np.zeros((3, 2)), nothing, nothing)
    for name in ("micro_f1", "micro_precision", "micro_jaccard", "weighted_f2"):
        assert state.results()[name] == 0
        assert state.results(convention="paper")[name] == 1


@pytest.mark.parametrize("convention", ["sklearn", "paper"])
def test_f1_minus_f2_and_jaccard_keep_their_identities(cases, convention: str):
    for case in cases:
        found = Counts.of(*case).results(convention=convention)
        p, r, f1 = found["micro_precision"], found["micro_recall"], found["micro_f1"]
        difference = 3 * p * r * (p - r) / ((p + r) * (4 * p + r)) if p + r else 0
        np.testing.assert_allclose(f1 - found["micro_f2"], difference, atol=1e-12)
        np.testing.assert_allclose(found["micro_jaccard"], f1 / (2 - f1), rtol=1e-12)


def test_one_label_is_not_spread_over_many():
    one, many = np.ones((2, 1), bool), np.ones((2, 7), bool)
    with pytest.raises(ShapeError, match=r"shape \(1,\) and \(7,\)"):
        Counts.of(one * 1.0, one, one) + Counts.of(many * 1.0, many, many)
