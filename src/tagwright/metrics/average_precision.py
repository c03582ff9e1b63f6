"""Average precision of every label over all rows: exact, so the state keeps the scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Bytes, Floats
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, check, merge
from tagwright.metrics._family import Family


@dataclass(frozen=True, eq=False, kw_only=True)
class AveragePrecision(Family):
    """All scores and truths; adding states joins their chunks.

    Memory: n · L · 4⅛ bytes (scores as float32, truth as bits): 7 MB for 2,958 × 598, 2.5 GB for a
    million × 598; twice that for the moment of the results. Scores of float64 that agree in float32
    become ties. The macro mean is over the labels that are true somewhere, in both conventions;
    `labels_with_positives` says how many. (scikit-learn gives the others 0: multiply by that share
    of L to have its macro.)
    """

    METRICS: ClassVar[Descriptions] = {
        "macro_average_precision": (
            "area under precision-recall steps, mean over labels that are true somewhere",
            True,
        ),
        "micro_average_precision": (
            "area under precision-recall steps of all (row, label) cells together",
            True,
        ),
    }
    FACTS: ClassVar[dict[str, str]] = {
        "labels_with_positives": "number of labels that are true in some row"
    }

    scores: tuple[Floats, ...]  # each (n, L) float32
    truth: tuple[Bytes, ...]  # each (n, ⌈L / 8⌉) uint8: bits, row by row

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> "AveragePrecision":
        """Keep one chunk of rows: scores (n, L), truth (n, L) bool; `chosen` takes no part."""
        check(scores, truth, chosen)
        return cls(scores=(scores.astype(np.float32),), truth=(np.packbits(truth, axis=1),))

    def __add__(self, other: "AveragePrecision") -> "AveragePrecision":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS` and `FACTS`; nothing true: 0."""
        labels = self.per_label()
        seen = ~np.isnan(labels)
        return {
            "macro_average_precision": float(labels[seen].mean()) if seen.any() else 0.0,
            "micro_average_precision": self._micro(),
            "labels_with_positives": int(seen.sum()),
        }

    def per_label(self) -> Floats:
        """Average precision of every label, (L,) float64; NaN where no row has it."""
        scores = np.concatenate(self.scores)
        truth = np.unpackbits(np.concatenate(self.truth), axis=1, count=scores.shape[1]).view(bool)
        return np.array(
            [
                _average_precision(scores[:, i], scores[truth[:, i], i])
                for i in range(scores.shape[1])
            ]
        )

    def _micro(self) -> float:
        pairs = zip(self.scores, self.truth)
        true = [s[np.unpackbits(t, axis=1, count=s.shape[1]).view(bool)] for s, t in pairs]
        value = _average_precision(np.concatenate(self.scores, axis=None), np.concatenate(true))
        return 0.0 if np.isnan(value) else value


def _average_precision(scores: Floats, true: Floats) -> float:
    """Mean over the scores of true cells of the precision at that score, ties included; NaN where
    there are none.

    Sorting values and counting by bisection is several times faster than an argsort, for few cells
    are true.
    """
    if len(true) == 0:
        return float("nan")
    everything, true = np.sort(scores), np.sort(true)
    hits = len(true) - np.searchsorted(true, true)
    ranks = len(everything) - np.searchsorted(everything, true)
    return float(np.mean(hits / ranks))


PART = AveragePrecision
