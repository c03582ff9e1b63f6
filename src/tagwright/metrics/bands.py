"""Scores by how frequent a label is in train: head, middle and tail."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Floats
from tagwright.errors import ShapeError
from tagwright.metrics._agreement import agreement
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, is_paper, merge
from tagwright.metrics._family import Family
from tagwright.metrics.counts import Counts

_BANDS = ("head", "middle", "tail")


@dataclass(frozen=True, eq=False, kw_only=True)
class Bands(Family):
    """The counts of every label; which label is in which band is asked only for the results. Adding
    states adds counts.

    The cut is relative to an even share, the mean count of a label: see `band_masks`. A band
    without labels has no scores. scikit-learn: `f1_score(..., labels=band)`.
    """

    METRICS: ClassVar[Descriptions] = {
        **{f"{band}_macro_f1": (f"F1, mean over the {band} labels", True) for band in _BANDS},
        **{
            f"{band}_micro_f1": (f"F1 of all choices of {band} labels together", True)
            for band in _BANDS
        },
    }
    FACTS: ClassVar[dict[str, str]] = {
        f"{band}_labels": f"number of {band} labels" for band in _BANDS
    }

    counts: Counts

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> "Bands":
        """Count one chunk of rows: scores (n, L), truth (n, L) bool, chosen (n, L) bool."""
        return cls(counts=Counts.of(scores, truth, chosen))

    def __add__(self, other: "Bands") -> "Bands":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics and facts by band; none without `label_counts` (L,), the counts of the labels
        in train.
        """
        if label_counts is None:
            return {}
        if np.shape(label_counts) != self.counts.hits.shape:
            shapes = f"{self.counts.hits.shape}, got {np.shape(label_counts)}"
            raise ShapeError(
                f"label_counts must hold one count a label, shape {shapes}; give LabelSpace.counts"
            )
        results: dict[str, float] = {}
        for band, inside in band_masks(label_counts).items():
            results[f"{band}_labels"] = int(inside.sum())
            if inside.any():
                results |= self._scores(band, inside, float(is_paper(convention)))
        return results

    def _scores(self, band: str, inside: Bools, empty: float) -> dict[str, float]:
        parts = [part[inside] for part in (self.counts.hits, self.counts.wrong, self.counts.missed)]
        micro = agreement(*[part.sum() for part in parts], empty=empty)["f1"]
        macro = agreement(*parts, empty=empty)["f1"].mean()
        return {f"{band}_macro_f1": float(macro), f"{band}_micro_f1": float(micro)}


def band_masks(label_counts: LabelCounts) -> dict[str, Bools]:
    """Head, middle and tail as masks (L,): each label in exactly one band, labels of one count
    always together.

    Head: at least half of an even share (the mean count). Tail: less than an eighth. Middle:
    between. Balanced sets are all head, a long tail shows in sets of any size. (Cuts by rank or
    covered share split balanced labels by chance.) GoEmotions has 18, 6 and 4 such labels,
    Reuters-90 25, 29 and 36.

    >>> {band: mask.tolist() for band, mask in band_masks([90, 11, 4]).items()}
    {'head': [True, False, False], 'middle': [False, True, False], 'tail': [False, False, True]}
    """
    counts = np.asarray(label_counts, np.float64)
    head, tail = counts >= counts.mean() / 2, counts < counts.mean() / 8
    return {"head": head, "middle": ~head & ~tail, "tail": tail}


PART = Bands
