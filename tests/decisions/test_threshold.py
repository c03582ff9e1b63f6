"""Thresholds against brute force over every cut."""

import json

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright import decisions
from tagwright.decisions.threshold import (
    MICRO,
    PULLS,
    Threshold,
    cross_fitted,
    cross_fitted_one,
    fit_one_threshold,
    fit_thresholds,
)
from tagwright.errors import ShapeError
from tagwright.storage.files import json_ready


def made(
    rows: int = 41, labels: int = 7, *, seed: int = 0, ties: bool = False
) -> tuple[np.ndarray, np.ndarray]:
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
    own, everywhere = (
        fit_thresholds(scores, truth, shrink=0),
        fit_thresholds(scores, truth, shrink=1e15),
    )
    positives = truth.sum(axis=0)
    share = positives / (positives + 5)
    np.testing.assert_allclose(
        fit_thresholds(scores, truth, shrink=5), share * own + (1 - share) * everywhere
    )


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
    np.testing.assert_array_equal(
        fit_thresholds(scores, truth), fit_thresholds(scores[shuffled], truth[shuffled])
    )


def test_cross_fitting_decides_a_row_without_its_truth() -> None:
    scores, truth = made()
    before, _ = cross_fitted(scores, truth, folds=5, seed=3, shrink=2)
    for row in range(5):
        altered = truth.copy()
        altered[row] = ~altered[row]
        np.testing.assert_array_equal(
            cross_fitted(scores, altered, folds=5, seed=3, shrink=2)[0][row], before[row]
        )


def test_cross_fitting_with_a_fold_a_row_equals_leaving_one_out() -> None:
    scores, truth = made(rows=13)
    expected = [
        scores[i] > fit_thresholds(np.delete(scores, i, 0), np.delete(truth, i, 0))
        for i in range(13)
    ]
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
    assert quality(float(found)) == pytest.approx(
        max(quality(cut) for cut in [-np.inf, *np.unique(scores)])
    )
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
    for pull in PULLS:
        choices, same = cross_fitted(scores, truth, **pull._asdict())
        assert same == pull
        micro, macro = (
            f1_score(truth, choices, average=average, zero_division=0)
            for average in ("micro", "macro")
        )
        found[pull] = MICRO * micro + macro
    assert found[best] == pytest.approx(max(found.values()))  # none of them is below the plain cut
    np.testing.assert_array_equal(chosen, cross_fitted(scores, truth, **best._asdict())[0])


def test_labels_of_different_height_want_their_own_cuts() -> None:
    assert cross_fitted(*noisy(3.0), shrink=-1)[1].shrink <= 2
    assert cross_fitted(*noisy(0.0), shrink=-1)[1].shrink >= 2


def rare(separation: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """One label that 0 parts well, and forty of few rows whose scores say little."""
    random = np.random.default_rng(0)
    truth = random.random((200, 41)) < [0.5, *[share] * 40]
    return (truth - 0.5) * [6, *[separation] * 40] + random.normal(size=truth.shape) - [
        0,
        *[2.0] * 40,
    ], truth


def f1s(chosen: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    return tuple(
        float(f1_score(truth, chosen, average=average, zero_division=0))
        for average in ("macro", "micro")
    )


@pytest.mark.parametrize(("separation", "share", "bought"), [(1.0, 0.03, 0), (0.6, 0.02, 1)])
def test_neither_f1_is_bought_with_the_other(separation: float, share: float, bought: int) -> None:
    scores, truth = rare(separation, share)
    plain, chosen = f1s(scores > 0, truth), f1s(cross_fitted(scores, truth, shrink=-1)[0], truth)
    assert chosen[0] >= plain[0]
    assert chosen[1] >= plain[1]
    # by the sum alone one of them would have been
    others = (f1s(cross_fitted(scores, truth, **pull._asdict())[0], truth) for pull in PULLS)
    best = max(others, key=lambda found: found[0] + MICRO * found[1])
    assert best[bought] > chosen[bought]
    assert best[1 - bought] < plain[1 - bought]


def test_who_wants_macro_f1_alone_pays_in_micro_f1() -> None:
    scores, truth = rare(1.0, 0.03)
    macro, micro = f1s(cross_fitted(scores, truth, shrink=-1, micro=0.0)[0], truth)
    plain = f1s(scores > 0, truth)
    assert macro > plain[0]
    assert micro < plain[1]


def test_cuts_drawn_to_zero_end_there() -> None:
    scores, truth = made()
    own, positives = fit_thresholds(scores, truth), truth.sum(axis=0)
    drawn = fit_thresholds(scores, truth, shrink=5, to_zero=True)
    np.testing.assert_allclose(drawn, own * positives / (positives + 5))
    np.testing.assert_allclose(
        fit_thresholds(scores, truth, shrink=1e15, to_zero=True), 0, atol=1e-9
    )


@pytest.mark.parametrize(
    "thresholds", [np.array([0.5, np.inf, 1.0]), np.array(np.inf), np.array(0.5)]
)
def test_a_threshold_that_no_score_passes_is_saved_and_loaded(thresholds):
    """Where dev has no positives there is none that does, and JSON has no number for it."""
    saved = json.dumps(json_ready(decisions.as_dict(Threshold(thresholds), "abc")))
    again, scores = (
        decisions.loaded("threshold", json.loads(saved), "abc"),
        np.array([[9.0, 9.0, 0.0]]),
    )
    assert again.thresholds.tolist() == thresholds.tolist()
    assert again.choose(scores, scores).tolist() == (scores > thresholds).tolist()
