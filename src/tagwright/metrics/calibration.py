"""Expected calibration error over 15 bins (Guo et al. 2017): does 0.8 mean right in eight of ten
cases?
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Floats, Numbers
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, check, merge
from tagwright.metrics._family import Family

_BINS = 15


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationErrors(Family):
    """Sums of every bin [i/15, (i+1)/15), 1 in the last; adding states adds the bins.

    Scores must be probabilities: where one lies outside [0, 1] there is no result. Bins are
    label-wise, every (row, label) cell counts; where every row has exactly one true and one chosen
    label there are also bins of each row's highest probability (ties: the share of true labels
    among the tied). scikit-learn has no such metric.
    """

    METRICS: ClassVar[Descriptions] = {
        "calibration_error": (
            "expected gap between the probability of labels and how often they are true",
            False,
        ),
        "top_calibration_error": (
            "expected gap between the highest probability of rows and how often it is right",
            False,
        ),
    }

    rows: int
    exclusive: int  # rows with exactly one true and one chosen label
    outside: int  # scores that are no probabilities
    cells: Floats  # (3, 15): number of cells, sum of probabilities, number of true cells
    tops: Floats  # (3, 15): the same of each row's highest

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> "CalibrationErrors":
        """Fill the bins from one chunk of rows: scores (n, L) probabilities, truth (n, L) bool,
        chosen (n, L) bool.
        """
        check(scores, truth, chosen)
        exclusive = (np.count_nonzero(truth, axis=1) == 1) & (np.count_nonzero(chosen, axis=1) == 1)
        highest = scores[exclusive].max(axis=1)
        tied = scores[exclusive] == highest[:, None]
        right = np.count_nonzero(tied & truth[exclusive], axis=1) / np.count_nonzero(tied, axis=1)
        return cls(
            rows=len(scores),
            exclusive=int(exclusive.sum()),
            outside=int(np.sum((scores < 0) | (scores > 1))),
            cells=_bins(scores.ravel(), truth.ravel()),
            tops=_bins(highest, right),
        )

    def __add__(self, other: "CalibrationErrors") -> "CalibrationErrors":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS`; none where scores are no probabilities or there are no rows."""
        if self.outside or not self.rows:
            return {}
        results = {"calibration_error": _gap(self.cells)}
        if self.exclusive == self.rows:
            results["top_calibration_error"] = _gap(self.tops)
        return results

    def reliability(self, *, top: bool = False) -> dict[str, Floats]:
        """The curve, arrays (15,): lower edge, count, mean confidence and observed frequency (NaN
        in empty bins).

        `top=True` is the curve of each row's highest probability, over rows with exactly one true
        and one chosen label.
        """
        count, confidence, true = self.tops if top else self.cells
        filled = np.where(count > 0, count, np.nan)
        lower = np.arange(_BINS) / _BINS
        return {
            "lower": lower,
            "count": count,
            "confidence": confidence / filled,
            "frequency": true / filled,
        }


def _bins(scores: Floats, true: Numbers) -> Floats:
    # a score outside voids the results; here it must only find a bin
    inside = np.clip(scores, 0, 1)
    index = np.minimum((inside * _BINS).astype(np.intp), _BINS - 1)
    weights = (None, inside, true)
    return np.stack([np.bincount(index, weight, _BINS).astype(np.float64) for weight in weights])


def _gap(bins: Floats) -> float:
    count, confidence, true = bins
    return float(np.abs(confidence - true).sum() / count.sum())


PART = CalibrationErrors
