"""Ranking metrics against scikit-learn where it has them, else against averages over all orders of
tied labels.
"""

from itertools import pairwise, permutations

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from tagwright.metrics.ranking import Ranking

TOLERANCE = {"rtol": 1e-11, "atol": 1e-12}


def test_lrap_ranking_loss_and_coverage_equal_scikit_learn(cases):
    for case in cases:
        results = Ranking.of(*case).results()
        pair = case.truth, case.scores
        expected = sklearn_metrics.label_ranking_average_precision_score(*pair)
        np.testing.assert_allclose(results["lrap"], expected, **TOLERANCE)
        np.testing.assert_allclose(
            results["ranking_loss"], sklearn_metrics.label_ranking_loss(*pair), **TOLERANCE
        )
        np.testing.assert_allclose(
            results["coverage"], sklearn_metrics.coverage_error(*pair), **TOLERANCE
        )


@pytest.mark.parametrize("k", [1, 3, 5])
def test_ndcg_equals_scikit_learn(cases, k: int):
    for case in cases:
        found = Ranking.of(*case).results()[f"ndcg_at_{k}"]
        np.testing.assert_allclose(
            found, sklearn_metrics.ndcg_score(case.truth, case.scores, k=k), **TOLERANCE
        )


def loop_top(scores: np.ndarray, truth: np.ndarray, k: int) -> tuple[float, float]:
    """Precision and recall at k of one row: the mean over every order of its labels that the scores
    allow.
    """
    k = min(k, len(scores))
    orders = [
        o
        for o in permutations(range(len(scores)))
        if all(scores[i] >= scores[j] for i, j in pairwise(o))
    ]
    hits = sum(sum(truth[i] for i in order[:k]) for order in orders) / len(orders)
    return hits / k, hits / max(1, sum(truth))


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("labels", [1, 2, 4, 5])
def test_precision_and_recall_at_k_average_over_ties(k: int, labels: int):
    rng = np.random.default_rng(k)
    scores = rng.integers(0, 3, (41, labels)) / 2.0
    truth = rng.random((41, labels)) < 0.4
    found = Ranking.of(scores, truth, truth).results()
    expected = np.mean([loop_top(s, t, k) for s, t in zip(scores, truth)], axis=0)
    np.testing.assert_allclose(
        [found[f"precision_at_{k}"], found[f"recall_at_{k}"]], expected, **TOLERANCE
    )


def test_one_error_counts_rows_whose_highest_label_is_wrong(cases):
    for case in cases:
        errors = 0.0
        for scores, truth in zip(case.scores, case.truth):
            highest = [t for s, t in zip(scores, truth) if s == max(scores)]
            errors += 1 - sum(highest) / len(highest)
        np.testing.assert_allclose(
            Ranking.of(*case).results()["one_error"], errors / len(case.truth), **TOLERANCE
        )


def test_paper_convention_scores_rows_without_labels_zero_in_lrap_alone(cases):
    for case in cases:
        total = 0.0  # eq. 29, the rank of a label being the number of labels that score as high
        for scores, truth in zip(case.scores, case.truth):
            for label in np.flatnonzero(truth):
                above = scores >= scores[label]
                total += sum(above & truth) / sum(above) / sum(truth)
        state = Ranking.of(*case)
        paper, sklearn = state.results(convention="paper"), state.results()
        np.testing.assert_allclose(paper.pop("lrap"), total / len(case.truth), **TOLERANCE)
        del sklearn["lrap"]
        assert paper == sklearn


def test_ranking_loss_divides_by_the_pairs(cases):
    for case in cases:
        total = 0.0  # eq. 30 with the divisor set right; a tie is a pair in the wrong order
        for scores, truth in zip(case.scores, case.truth):
            pairs = [(a, b) for a in scores[truth] for b in scores[~truth]]
            total += sum(a <= b for a, b in pairs) / max(1, len(pairs))
        found = Ranking.of(*case).results(convention="paper")["ranking_loss"]
        np.testing.assert_allclose(found, total / len(case.truth), **TOLERANCE)


def test_order_of_labels_changes_nothing(cases):
    rng = np.random.default_rng(2)
    for case in cases:
        order = rng.permutation(case.truth.shape[1])
        turned = Ranking.of(*(part[:, order] for part in case)).results()
        for name, value in Ranking.of(*case).results().items():
            assert turned[name] == pytest.approx(value, rel=1e-12), name


def test_infinite_scores_rank_as_numbers_do():
    truth = np.array([[True, False, True, False]])
    endless = Ranking.of(np.array([[np.inf, 0.0, -np.inf, -np.inf]]), truth, truth).results()
    assert endless == Ranking.of(np.array([[9.0, 0.0, -9.0, -9.0]]), truth, truth).results()


def test_many_labels_need_no_matrix_of_label_pairs():
    rng = np.random.default_rng(3)
    scores, truth = rng.random((2, 200_001)), rng.random((2, 200_001)) < 1e-4
    expected = sklearn_metrics.label_ranking_loss(truth, scores)
    np.testing.assert_allclose(
        Ranking.of(scores, truth, truth).results()["ranking_loss"], expected, **TOLERANCE
    )
