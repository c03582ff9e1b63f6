"""Per-label thresholds that maximise macro- and micro-F1 on held-out scores, shrunk towards the global one if wanted.

The best cut of a label with two positives may be luck, and the cut that is best for all cells at once is not: label l
gets w * its own + (1 - w) * global, with w = positives / (positives + shrink).
"""

from typing import NamedTuple

import numpy as np

from tagwright.decide._joint import joint_cuts
from tagwright.errors import ShapeError

SHRINKS = (0.0, 0.5, 2.0, 10.0, 50.0, 1e9)  # from every label's own to one for all
MICRO = 2.0


class Threshold:
    """Chooses any number of labels: those whose logit is above their own threshold, (L,), fitted with `shrink`.

    A negative one stands for the shrinkage that does best on held-out texts. `micro` is what micro-F1 weighs beside
    macro-F1; at 0 every label has the cut of its own best F1. A threshold of shape () is one for all labels: what
    shortlists of very many labels are decided by.
    """

    def __init__(self, thresholds: np.ndarray, *, shrink: float = -1.0, micro: float = MICRO) -> None:
        self.thresholds, self.shrink, self.micro = thresholds, shrink, micro

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        return logits > self.thresholds


class Cuts(NamedTuple):
    """The best cut of every label (L,), the one that is best for all cells, and the labels' positives (L,)."""

    own: np.ndarray
    everywhere: float
    positives: np.ndarray

    def shrunk(self, shrink: float) -> np.ndarray:
        """Thresholds (L,): `shrink` is the number of positives at which own and global cut weigh the same."""
        if not self.positives.any():
            return np.full(len(self.own), np.inf)
        if not shrink:
            return self.own
        share = self.positives / (self.positives + shrink)
        return share * self.own + (1 - share) * self.everywhere


def fit_thresholds(scores: np.ndarray, truth: np.ndarray, *, shrink: float = 0.0, micro: float = MICRO) -> np.ndarray:
    """Logits (n, L) and truth (n, L) -> thresholds (L,), float64: a label is chosen where its logit is above.

    At `shrink` 0 every label has its own, which for one without positives is its highest score; else such a label gets
    the global cut. No positives at all: nothing is chosen.
    """
    return _cuts(scores, truth, micro).shrunk(shrink)


def cross_fitted(
    scores: np.ndarray, truth: np.ndarray, *, folds: int = 5, seed: int = 0, shrink: float = -1.0, micro: float = MICRO
) -> tuple[np.ndarray, float]:
    """Choices (n, L), bool: each row decided by thresholds that were fitted without it, for an honest held-out F1.

    Also the shrinkage, the one number that all rows have a say in: in place of a negative one that of SHRINKS with the
    highest macro-F1 plus `micro` times micro-F1 of such choices. With fewer rows than `folds`, each row is a fold.
    """
    fold = _folds(len(scores), folds=folds, seed=seed)
    wanted = SHRINKS if shrink < 0 else (shrink,)
    chosen = {one: np.zeros(truth.shape, bool) for one in wanted}
    for held in np.unique(fold):
        out = fold == held
        cuts = _cuts(scores[~out], truth[~out], micro)
        for one, choices in chosen.items():
            choices[out] = scores[out] > cuts.shrunk(one)
    best = max(wanted, key=lambda one: _agreement(chosen[one], truth, micro)) if len(wanted) > 1 else wanted[0]
    return chosen[best], best


def _cuts(scores: np.ndarray, truth: np.ndarray, micro: float) -> Cuts:
    _require_alike(scores, truth)
    positives = truth.sum(axis=0)
    if not positives.any():
        return Cuts(np.zeros(scores.shape[1]), 0.0, positives)
    everywhere = _best_cuts(scores.reshape(-1, 1), truth.reshape(-1, 1))[0]
    return Cuts(joint_cuts(scores, truth, weight=micro), everywhere, positives)


def _agreement(chosen: np.ndarray, truth: np.ndarray, micro: float) -> float:
    """Macro-F1 over all labels, and so many times micro-F1."""
    hits, cells = (chosen & truth).sum(0), chosen.sum(0) + truth.sum(0)
    return float(micro * 2 * hits.sum() / max(cells.sum(), 1) + (2 * hits / np.maximum(cells, 1)).mean())


def fit_one_threshold(scores: np.ndarray, truth: np.ndarray, positives: int) -> np.ndarray:
    """The one cut, shape (), with the highest micro-F1 over the cells (n, k) of shortlists and their truth, bool.

    `positives` counts the true labels of all n texts: those outside a shortlist are missed at any cut.
    """
    _require_alike(scores, truth)
    if not truth.any():
        return np.array(np.inf)
    return _best_cuts(scores.reshape(-1, 1), truth.reshape(-1, 1), beyond=positives - int(truth.sum()))[0]


def cross_fitted_one(scores: np.ndarray, truth: np.ndarray, positives: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Choices (n, k), bool, as `cross_fitted`, by one threshold; `positives` (n,) are the true labels of each text."""
    fold = _folds(len(scores), seed=seed)
    chosen = np.zeros(truth.shape, bool)
    for held in np.unique(fold):
        out = fold == held
        chosen[out] = scores[out] > fit_one_threshold(scores[~out], truth[~out], int(positives[~out].sum()))
    return chosen


def _folds(rows: int, *, folds: int = 5, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(rows) % folds


def _best_cuts(scores: np.ndarray, truth: np.ndarray, *, beyond: int = 0) -> np.ndarray:
    """The cut of each column with the highest F1, half way to the next lower score, (L,); of equals the highest.

    `beyond` true cells are among no scores.
    """
    count = len(scores)
    order = np.argsort(-scores.T, axis=1)  # labels as rows: each sort and sum runs over contiguous memory
    ranked = np.take_along_axis(scores.T, order, axis=1).astype(np.float64)
    hits = np.cumsum(np.take_along_axis(truth.T, order, axis=1), axis=1)
    quality = 2 * hits / (np.arange(1, count + 1) + hits[:, -1:] + beyond)  # F1 = 2 TP / (chosen + positives)
    below = np.concatenate([ranked[:, 1:], np.full((len(ranked), 1), -np.inf)], axis=1)
    quality[ranked == below] = -1  # equal scores cannot be parted
    best = quality.argmax(axis=1)[:, None]
    upper, lower = (np.take_along_axis(side, best, axis=1)[:, 0] for side in (ranked, below))
    return np.where(np.isinf(lower), np.nextafter(upper, -np.inf), (upper + lower) / 2)


def _require_alike(scores: np.ndarray, truth: np.ndarray) -> None:
    if scores.ndim != 2 or scores.shape != truth.shape or truth.dtype != bool:
        got = f"{scores.shape} and {truth.shape} {truth.dtype}"
        raise ShapeError(
            f"thresholds want scores (n, L) and bool truth of that shape, got {got}; use LabelSpace.encode"
        )
    if not np.isfinite(scores).all():
        raise ShapeError("thresholds want finite scores, got NaN or infinity; look at the learning rate of the run")


PART = Threshold
