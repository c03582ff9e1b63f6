"""Hits, wrong choices and misses of every label: micro, macro, weighted precision, recall, F1, F2;
Hamming, Jaccard.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Floats, Ints
from tagwright.metrics._agreement import MEASURES, Scores, agreement, scores_of
from tagwright.metrics._chunk import (
    Convention,
    Descriptions,
    LabelCounts,
    check,
    is_paper,
    mean,
    merge,
)
from tagwright.metrics._family import Family

_AVERAGES = {
    "micro": "of all choices together",
    "macro": "mean over labels",
    "weighted": "mean over labels, weighed by how often each is true",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts(Family):
    """Counts of every label, (L,) int64, over `rows` rows; adding states adds the counts.

    "sklearn": a label that is neither true nor chosen anywhere scores 0 (`zero_division=0`).
    "paper": it scores 1, so do the micro metrics where nothing at all is true or chosen. A label
    that is true but never chosen scores 0 in both.
    """

    METRICS: ClassVar[Descriptions] = {
        **{
            f"{a}_{m}": (f"{m.capitalize()}, {text}", True)
            for a, text in _AVERAGES.items()
            for m in MEASURES
        },
        "hamming_loss": ("share of all (row, label) cells decided wrongly", False),
        "micro_jaccard": ("hits over all that is true or chosen, of all choices together", True),
    }

    rows: int
    hits: Ints  # true and chosen
    wrong: Ints  # chosen, not true
    missed: Ints  # true, not chosen

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> "Counts":
        """Count one chunk of rows: scores (n, L), truth (n, L) bool, chosen (n, L) bool."""
        check(scores, truth, chosen)
        hits = np.count_nonzero(truth & chosen, axis=0)
        wrong = np.count_nonzero(chosen, axis=0) - hits
        return cls(
            rows=len(truth), hits=hits, wrong=wrong, missed=np.count_nonzero(truth, axis=0) - hits
        )

    def __add__(self, other: "Counts") -> "Counts":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS`."""
        empty = float(is_paper(convention))
        labels = agreement(self.hits, self.wrong, self.missed, empty=empty)
        total = [np.sum(part) for part in (self.hits, self.wrong, self.missed)]
        support = self.hits + self.missed
        weights = support if support.any() else None  # nothing is true: all labels weigh the same
        results = {
            f"micro_{name}": float(value) for name, value in agreement(*total, empty=empty).items()
        }
        results |= {f"macro_{name}": float(labels[name].mean()) for name in MEASURES}
        results |= {
            f"weighted_{name}": float(np.average(labels[name], weights=weights))
            for name in MEASURES
        }
        results["hamming_loss"] = mean(total[1] + total[2], self.rows * len(self.hits))
        results["micro_jaccard"] = float(total[0] / sum(total)) if sum(total) else empty
        return results

    def per_label(self, *, convention: Convention = "sklearn") -> Scores:
        """Arrays (L,): precision, recall, f1, f2, support (rows where true), predicted (rows where
        chosen).
        """
        return scores_of(self.hits, self.wrong, self.missed, empty=float(is_paper(convention)))


PART = Counts
