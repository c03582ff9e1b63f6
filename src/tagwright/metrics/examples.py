"""Row by row: exact matches, precision, recall, F1 and F2 of every text's label set, averaged over
texts.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Floats
from tagwright.metrics._agreement import MEASURES, agreement
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples(Family):
    """Sums over rows; adding states adds the sums.

    "sklearn": a row with no true and no chosen label scores 0 in the example_* metrics
    (`average="samples"`, `zero_division=0`). "paper": it scores 1. `accuracy` is there only where
    every row has exactly one true and one chosen label.
    """

    METRICS: ClassVar[Descriptions] = {
        "subset_accuracy": ("share of rows whose chosen labels are exactly the true ones", True),
        "accuracy": ("share of rows whose one label is right", True),
        **{
            f"example_{name}": (f"{name.capitalize()} of each row's labels, mean over rows", True)
            for name in MEASURES
        },
    }
    FACTS: ClassVar[dict[str, str]] = {
        "true_cardinality": "true labels a row",
        "predicted_cardinality": "chosen labels a row",
        "empty_prediction_share": "share of rows for which no label is chosen",
    }

    rows: int
    exact: int  # rows whose sets agree
    exclusive: int  # rows with exactly one true and one chosen label
    unlabelled: int  # rows with no true and no chosen label
    unchosen: int  # rows with no chosen label
    true: int
    chosen: int
    sums: Floats  # (4,) of MEASURES, 0 for rows without any label

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> "Examples":
        """Sum up one chunk of rows: scores (n, L), truth (n, L) bool, chosen (n, L) bool."""
        check(scores, truth, chosen)
        hits = np.count_nonzero(truth & chosen, axis=1)
        true, picked = np.count_nonzero(truth, axis=1), np.count_nonzero(chosen, axis=1)
        values = agreement(hits, picked - hits, true - hits, empty=0.0)
        return cls(
            rows=len(truth),
            exact=int(np.sum((true == hits) & (picked == hits))),
            exclusive=int(np.sum((true == 1) & (picked == 1))),
            unlabelled=int(np.sum((true == 0) & (picked == 0))),
            unchosen=int(np.sum(picked == 0)),
            true=int(true.sum()),
            chosen=int(picked.sum()),
            sums=np.array([values[name].sum() for name in MEASURES]),
        )

    def __add__(self, other: "Examples") -> "Examples":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS` and `FACTS`; NaN without rows."""
        sums = self.sums + (self.unlabelled if is_paper(convention) else 0)
        results = {f"example_{name}": mean(value, self.rows) for name, value in zip(MEASURES, sums)}
        results["subset_accuracy"] = mean(self.exact, self.rows)
        if self.rows and self.exclusive == self.rows:
            results["accuracy"] = results["subset_accuracy"]
        results["true_cardinality"] = mean(self.true, self.rows)
        results["predicted_cardinality"] = mean(self.chosen, self.rows)
        results["empty_prediction_share"] = mean(self.unchosen, self.rows)
        return results


PART = Examples
