"""Per-label thresholds that maximize macro- and micro-F1 on held-out scores, shrunk towards a
common one if wanted.

The best cut of a label with two positives may be luck, and the cut that is best for all cells at
once is not: label l gets w * its own + (1 - w) * common, with w = positives / (positives + shrink).
Common is that cut, or 0, which is what the loss was trained for and owes nothing to luck at all.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from tagwright.arrays import Bools, Floats, Ints
from tagwright.decisions import Decision, HeldOut
from tagwright.decisions._joint import joint_cuts
from tagwright.errors import ShapeError

SHRINKS = (0.0, 0.5, 2.0, 10.0, 50.0, 1e9)  # from every label's own to one for all
MICRO = 2.0


class Threshold(Decision):
    """Chooses any number of labels: those whose logit is above their own threshold, (L,), fitted
    with `shrink`.

    A negative one stands for the shrinkage that does best on held-out texts, towards 0 or not as
    they want. `micro` is what micro-F1 weighs beside macro-F1; at 0 every label has the cut of its
    own best F1. A threshold of shape () is one for all labels: what shortlists of very many labels
    are decided by.
    """

    FITTED = ("thresholds",)

    def __init__(
        self,
        thresholds: Floats,
        *,
        shrink: float = -1.0,
        to_zero: bool = False,
        micro: float = MICRO,
    ) -> None:
        self.thresholds: Floats = thresholds
        self.shrink, self.to_zero, self.micro = shrink, to_zero, micro

    @classmethod
    def fit(cls, held_out: HeldOut, **options: Unpack["Settings"]) -> tuple["Threshold", Bools]:
        """Thresholds of all rows; each row's choices are by those of the other folds."""
        logits, truth, positives = held_out.logits, held_out.truth, held_out.positives
        if positives is not None:
            thresholds = fit_one_threshold(logits, truth, int(positives.sum()))
            return cls(thresholds, **options), cross_fitted_one(
                logits, truth, positives, seed=held_out.seed
            )
        chosen, pull = cross_fitted(logits, truth, seed=held_out.seed, **options)
        options = {**options, "shrink": pull.shrink, "to_zero": pull.to_zero}
        return cls(fit_thresholds(logits, truth, **options), **options), chosen

    def describe(self) -> str:
        """A sentence for the model card."""
        if np.ndim(self.thresholds) == 0:
            return "Every label whose score is above one threshold, fitted on dev."
        return "Every label whose score is above its own threshold, fitted on dev."

    def choose(self, logits: Floats, probabilities: Floats) -> Bools:
        """Scores (n, L) -> bool (n, L)."""
        return logits > self.thresholds


class Settings(TypedDict, total=False):
    """What a user sets of `Threshold`."""

    shrink: float
    to_zero: bool
    micro: float


class Pull(NamedTuple):
    """How far labels' cuts are drawn together, and whether to 0 or to the cut that is best for all
    cells.
    """

    shrink: float
    to_zero: bool = False


PULLS = (
    *(Pull(shrink) for shrink in SHRINKS),
    *(Pull(shrink, to_zero=True) for shrink in SHRINKS[1:]),
)


class LabelCuts(NamedTuple):
    """The best cut of every label (L,), the one that is best for all cells, and the labels'
    positives (L,).
    """

    own: Floats
    everywhere: float
    positives: Ints

    def pulled(self, pull: Pull) -> Floats:
        """Thresholds (L,): `shrink` is the number of positives at which own and common cut weigh
        the same.
        """
        if not self.positives.any():
            return np.full(len(self.own), np.inf)
        if not pull.shrink:
            return self.own
        share = self.positives / (self.positives + pull.shrink)
        return share * self.own + (1 - share) * (0.0 if pull.to_zero else self.everywhere)


def fit_thresholds(
    scores: Floats,
    truth: Bools,
    *,
    shrink: float = 0.0,
    to_zero: bool = False,
    micro: float = MICRO,
) -> Floats:
    """Logits (n, L) and truth (n, L) -> thresholds (L,), float64: a label is chosen where its logit
    is above.

    At `shrink` 0 every label has its own, which for one without positives is its highest score;
    else such a label gets the common cut. No positives at all: nothing is chosen.
    """
    return _cuts(scores, truth, micro).pulled(Pull(shrink, to_zero))


def cross_fitted(
    scores: Floats,
    truth: Bools,
    *,
    folds: int = 5,
    seed: int = 0,
    shrink: float = -1.0,
    to_zero: bool = False,
    micro: float = MICRO,
) -> tuple[Bools, Pull]:
    """Choices (n, L), bool: each row decided by thresholds that were fitted without it, for an
    honest held-out F1.

    Also the pull, all that every row has a say in: where `shrink` is negative, the best of PULLS by
    such choices. With fewer rows than `folds`, each row is a fold.
    """
    fold = _folds(len(scores), folds=folds, seed=seed)
    cuts = {
        held: _cuts(scores[fold != held], truth[fold != held], micro)
        for held in np.unique(fold).tolist()
    }

    def chosen(pull: Pull) -> Bools:
        choices = np.zeros(truth.shape, bool)
        for held, own in cuts.items():
            choices[fold == held] = scores[fold == held] > own.pulled(pull)
        return choices

    best = Pull(shrink, to_zero)
    if shrink < 0:  # the choices of one pull at a time: texts times labels are many
        best = _best_pull(
            {pull: _f1(chosen(pull), truth) for pull in PULLS}, _f1(scores > 0, truth), micro
        )
    return chosen(best), best


def _best_pull(
    found: Mapping[Pull, tuple[float, float]], plain: tuple[float, float], micro: float
) -> Pull:
    """Of macro- and micro-F1: the highest macro plus `micro` times micro, of those with no less of
    either than `plain`.

    One is easily bought with the other, and then not there on other texts (docs/log.md).
    """
    least_macro, least_micro = plain
    kept = [
        pull
        for pull, f1 in found.items()
        if f1[0] >= least_macro and (f1[1] >= least_micro or not micro)
    ]
    return max(kept or [PULLS[-1]], key=lambda pull: found[pull][0] + micro * found[pull][1])


def _cuts(scores: Floats, truth: Bools, micro: float) -> LabelCuts:
    _require_alike(scores, truth)
    positives = truth.sum(axis=0)
    if not positives.any():
        return LabelCuts(np.zeros(scores.shape[1]), 0.0, positives)
    everywhere = _best_cuts(scores.reshape(-1, 1), truth.reshape(-1, 1))[0]
    return LabelCuts(joint_cuts(scores, truth, weight=micro), everywhere, positives)


def _f1(chosen: Bools, truth: Bools) -> tuple[float, float]:
    """Macro-F1 over all labels, and micro-F1."""
    hits, cells = (chosen & truth).sum(0), chosen.sum(0) + truth.sum(0)
    return float((2 * hits / np.maximum(cells, 1)).mean()), float(
        2 * hits.sum() / max(cells.sum(), 1)
    )


def fit_one_threshold(scores: Floats, truth: Bools, positives: int) -> Floats:
    """The one cut, shape (), with the highest micro-F1 over the cells (n, k) of shortlists and
    their truth, bool.

    `positives` counts the true labels of all n texts: those outside a shortlist are missed at any
    cut.
    """
    _require_alike(scores, truth)
    if not truth.any():
        return np.array(np.inf)
    return _best_cuts(
        scores.reshape(-1, 1), truth.reshape(-1, 1), beyond=positives - int(truth.sum())
    )[0]


def cross_fitted_one(scores: Floats, truth: Bools, positives: Ints, *, seed: int = 0) -> Bools:
    """Choices (n, k), bool, as `cross_fitted`, by one threshold; `positives` (n,) are the true
    labels of each text.
    """
    fold = _folds(len(scores), seed=seed)
    chosen = np.zeros(truth.shape, bool)
    for held in np.unique(fold):
        out = fold == held
        chosen[out] = scores[out] > fit_one_threshold(
            scores[~out], truth[~out], int(positives[~out].sum())
        )
    return chosen


def _folds(rows: int, *, folds: int = 5, seed: int) -> Ints:
    return np.random.default_rng(seed).permutation(rows) % folds


def _best_cuts(scores: Floats, truth: Bools, *, beyond: int = 0) -> Floats:
    """The cut of each column with the highest F1, half way to the next lower score, (L,); of equals
    the highest.

    `beyond` true cells are among no scores.
    """
    count = len(scores)
    # labels as rows: each sort and sum runs over contiguous memory
    order = np.argsort(-scores.T, axis=1)
    ranked = np.take_along_axis(scores.T, order, axis=1).astype(np.float64)
    hits = np.cumsum(np.take_along_axis(truth.T, order, axis=1), axis=1)
    # F1 = 2 TP / (chosen + positives)
    quality = 2 * hits / (np.arange(1, count + 1) + hits[:, -1:] + beyond)
    below = np.concatenate([ranked[:, 1:], np.full((len(ranked), 1), -np.inf)], axis=1)
    quality[ranked == below] = -1  # equal scores cannot be parted
    best = quality.argmax(axis=1)[:, None]
    upper, lower = (np.take_along_axis(side, best, axis=1)[:, 0] for side in (ranked, below))
    return np.where(np.isinf(lower), np.nextafter(upper, -np.inf), (upper + lower) / 2)


def _require_alike(scores: Floats, truth: Bools) -> None:
    if scores.ndim != 2 or scores.shape != truth.shape or truth.dtype != bool:
        got = f"{scores.shape} and {truth.shape} {truth.dtype}"
        raise ShapeError(
            f"thresholds want scores (n, L) and bool truth of that shape, got {got}; use"
            " LabelSpace.encode"
        )
    if not np.isfinite(scores).all():
        raise ShapeError(
            "thresholds want finite scores, got NaN or infinity; look at the learning rate of"
            " the run"
        )


PART = Threshold
