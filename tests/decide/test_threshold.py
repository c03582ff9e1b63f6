"""Thresholds against brute force over every cut."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.decide.threshold import (
    MICRO,
    SHRINKS,
    Threshold,
    cross_fitted,
    cross_fitted_one,
    fit_one_threshold,
    fit_thresholds,
)
from tagwright.errors import ShapeError


def made(rows: int = 41, labels: int = 7, *, seed: int = 0, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random((rows, labels)) < np.linspace(0.05, 0.5, labels)
    scores = rng.normal(size=(rows, labels)) + truth
    return (np.round(scores) if ties else scores), truth


def best_f1(scores: np.ndarray, truth: np.ndarray) -> float:
    """The best F1 of any cut, by trying them all."""
    cuts = [-np.inf, *np.unique(scores)]
    return max(float(f1_score(truth, scores > cut, zero_division=0)) for cut in cuts)


@pytest.mark.parametrize("ties", [False, True])
def test_without_shrinkage_every_label_has_its_best_f1(ties: bool) -> None:
    scores, truth = made(ties=ties)
    chosen = scores > fit_thresholds(scores, truth, shrink=0, micro=0)
    for label in np.flatnonzero(truth.any(axis=0)):
        found = f1_score(truth[:, label], chosen[:, label])
        assert found == pytest.approx(best_f1(scores[:, label], truth[:, label]), abs=1e-12)


def test_endless_shrinkage_gives_the_best_global_cut() -> None:
    scores, truth = made()
    thresholds = fit_thresholds(scores, truth, shrink=1e15)
    assert np.ptp(thresholds) < 1e-9
    assert f1_score(truth.ravel(), (scores > thresholds).ravel()) == pytest.approx(
        best_f1(scores.ravel(), truth.ravel())
    )


def test_shrinkage_weighs_by_positives() -> None:
    scores, truth = made()
    own, everywhere = fit_thresholds(scores, truth, shrink=0), fit_thresholds(scores, truth, shrink=1e15)
    positives = truth.sum(axis=0)
    share = positives / (positives + 5)
    np.testing.assert_allclose(fit_thresholds(scores, truth, shrink=5), share * own + (1 - share) * everywhere)


def test_a_label_without_positives_gets_the_global_cut_or_its_highest_score() -> None:
    scores, truth = made()
    truth[:, 2] = False
    everywhere = fit_thresholds(scores, truth, shrink=1e15)[2]
    assert fit_thresholds(scores, truth, shrink=2.0)[2] == pytest.approx(everywhere)
    assert fit_thresholds(scores, truth, shrink=0.0)[2] == scores[:, 2].max()


def test_no_positives_at_all_choose_nothing() -> None:
    scores, truth = made()
    assert not (scores > fit_thresholds(scores, np.zeros_like(truth))).any()


def test_all_positive_chooses_all() -> None:
    scores, truth = made()
    assert (scores > fit_thresholds(scores, np.ones_like(truth))).all()


def test_order_of_rows_changes_nothing() -> None:
    scores, truth = made(ties=True)
    shuffled = np.random.default_rng(1).permutation(len(scores))
    np.testing.assert_array_equal(fit_thresholds(scores, truth), fit_thresholds(scores[shuffled], truth[shuffled]))


def test_cross_fitting_decides_a_row_without_its_truth() -> None:
    scores, truth = made()
    before, _ = cross_fitted(scores, truth, folds=5, seed=3, shrink=2)
    for row in range(5):
        altered = truth.copy()
        altered[row] = ~altered[row]
        np.testing.assert_array_equal(cross_fitted(scores, altered, folds=5, seed=3, shrink=2)[0][row], before[row])


def test_cross_fitting_with_a_fold_a_row_equals_leaving_one_out() -> None:
    scores, truth = made(rows=13)
    expected = [scores[i] > fit_thresholds(np.delete(scores, i, 0), np.delete(truth, i, 0)) for i in range(13)]
    np.testing.assert_array_equal(cross_fitted(scores, truth, folds=99, shrink=0)[0], expected)


def test_the_decision_chooses_above_its_thresholds() -> None:
    decision = Threshold(thresholds=np.array([0.0, 1.0]))
    assert decision.choose(np.array([[0.5, 0.5], [0.0, 2.0]]), np.zeros((2, 2))).tolist() == [
        [True, False],
        [False, True],
    ]


def test_integer_truth_is_refused() -> None:
    scores, truth = made()
    with pytest.raises(ShapeError, match="bool truth"):
        fit_thresholds(scores, truth.astype(np.int64))


def test_scores_that_are_not_numbers_are_refused() -> None:
    scores, truth = made()
    scores[3, 1] = np.nan
    with pytest.raises(ShapeError, match="finite scores"):
        fit_thresholds(scores, truth)


def test_one_threshold_for_shortlists_counts_what_they_leave_out() -> None:
    scores, truth = made(labels=4)
    everything = fit_one_threshold(scores, truth, int(truth.sum()))
    assert everything.shape == ()
    assert everything == pytest.approx(float(fit_thresholds(scores, truth, shrink=1e15)[0]))
    missed = 60  # true labels that no shortlist has: choosing less freely would miss the more

    def quality(cut: float) -> float:
        chosen = scores > cut
        return 2 * (truth & chosen).sum() / (chosen.sum() + truth.sum() + missed)

    found = fit_one_threshold(scores, truth, int(truth.sum()) + missed)
    assert quality(float(found)) == pytest.approx(max(quality(cut) for cut in [-np.inf, *np.unique(scores)]))
    assert quality(float(everything)) < quality(float(found))


def test_one_threshold_of_no_true_cell_chooses_nothing() -> None:
    scores, truth = made()
    assert fit_one_threshold(scores, np.zeros_like(truth), 5) == np.inf


def test_rows_are_decided_by_one_threshold_fitted_without_them() -> None:
    scores, truth = made()
    chosen = cross_fitted_one(scores, truth, truth.sum(axis=1), seed=3)
    fold = np.random.default_rng(3).permutation(len(scores)) % 5
    for held in range(5):
        out = fold == held
        cut = fit_one_threshold(scores[~out], truth[~out], int(truth[~out].sum()))
        assert np.array_equal(chosen[out], scores[out] > cut)


def noisy(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of six labels, each of which is right at a cut of its own, `shift` apart."""
    random = np.random.default_rng(5)
    truth = random.random((300, 6)) < [0.5, 0.3, 0.2, 0.1, 0.05, 0.03]
    return truth * 2.5 + random.normal(size=truth.shape) + shift * np.arange(6), truth


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_negative_one_is_the_shrinkage_that_does_best_on_held_out_rows(shift: float) -> None:
    scores, truth = noisy(shift)
    chosen, best = cross_fitted(scores, truth, shrink=-1)
    found = {}
    for shrink in SHRINKS:
        choices, same = cross_fitted(scores, truth, shrink=shrink)
        assert same == shrink
        micro, macro = (f1_score(truth, choices, average=average, zero_division=0) for average in ("micro", "macro"))
        found[shrink] = MICRO * micro + macro
    assert found[best] == pytest.approx(max(found.values()))
    np.testing.assert_array_equal(chosen, cross_fitted(scores, truth, shrink=best)[0])


def test_labels_of_different_height_want_their_own_cuts() -> None:
    assert cross_fitted(*noisy(3.0), shrink=-1)[1] <= 2
    assert cross_fitted(*noisy(0.0), shrink=-1)[1] >= 2
