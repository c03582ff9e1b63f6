"""How well scores rank the labels of a text: label-ranking average precision, ranking loss,
coverage, and the top k.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Floats, Ints
from tagwright.metrics._agreement import ratio
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
from tagwright.metrics._ranks import Ranked, rank_rows, tie_averaged

DEPTHS = (1, 3, 5)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking(Family):
    """Sums over rows; adding states adds the sums.

    Ties as in scikit-learn: against the model in lrap, ranking_loss and coverage; averaged over all
    orders of the tied labels in the top-k metrics and one_error, so the order of labels never
    matters. k is at most L. Rows without a true label: lrap 1 ("paper": 0), ranking_loss 0,
    coverage 0, precision, recall and ndcg 0, one_error 1. scikit-learn has no precision and recall
    at k of label sets and no one_error.
    """

    METRICS: ClassVar[Descriptions] = {
        "lrap": (
            "label-ranking average precision: share of true among the labels down to each true one",
            True,
        ),
        "ranking_loss": (
            "share of (true, false) label pairs in the wrong order, mean over rows",
            False,
        ),
        "one_error": ("share of rows whose highest label is not true", False),
        "coverage": ("how far down the ranking all true labels are found, mean over rows", False),
        **{
            f"precision_at_{k}": (f"share of the {k} highest labels that are true", True)
            for k in DEPTHS
        },
        **{
            f"recall_at_{k}": (f"share of the true labels that are among the {k} highest", True)
            for k in DEPTHS
        },
        **{
            f"ndcg_at_{k}": (
                f"discounted gain of the {k} highest labels over the best possible",
                True,
            )
            for k in DEPTHS
        },
    }

    rows: int
    unlabelled: int  # rows without a true label; they add nothing to the sums
    lrap: float
    ranking_loss: float
    coverage: int
    top: Floats  # (3, 3): precision, recall, ndcg at each of the depths

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> "Ranking":
        """Sum up one chunk of rows: scores (n, L), truth (n, L) bool; `chosen` takes no part."""
        check(scores, truth, chosen)
        labelled = truth.any(axis=1)
        ranked = rank_rows(scores[labelled], truth[labelled])
        rows, places = np.nonzero(ranked.truth)
        ends, hits = ranked.ends[rows, places], ranked.hits[rows, places]
        true = np.count_nonzero(ranked.truth, axis=1)
        false = truth.shape[1] - true
        return cls(
            rows=len(truth),
            unlabelled=int(np.sum(~labelled)),
            lrap=float(np.sum(hits / ends / true[rows])),
            ranking_loss=float(np.sum(ratio(ends - hits, (true * false)[rows]))),
            coverage=int(np.max(ranked.ends, axis=1, where=ranked.truth, initial=0).sum()),
            top=top_sums(ranked, true),
        )

    def __add__(self, other: "Ranking") -> "Ranking":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS`; NaN without rows."""
        unlabelled = 0 if is_paper(convention) else self.unlabelled
        results = {
            "lrap": mean(self.lrap + unlabelled, self.rows),
            "ranking_loss": mean(self.ranking_loss, self.rows),
            "coverage": mean(self.coverage, self.rows),
        }
        return results | top_results(self.top, self.rows)


def top_results(top: Floats, rows: int) -> dict[str, float]:
    """The metrics of the first places, of sums (3, 3) over so many rows."""
    results = {"one_error": 1 - mean(top[0, 0], rows)}
    for name, sums in zip(("precision", "recall", "ndcg"), top):
        results |= {f"{name}_at_{k}": mean(total, rows) for k, total in zip(DEPTHS, sums)}
    return results


def top_sums(ranked: Ranked, true: Ints) -> Floats:
    """Sums over rows of precision, recall and ndcg at each depth, (3, 3); every row has a true
    label.
    """
    depth = min(max(DEPTHS), ranked.truth.shape[1])
    gains = tie_averaged(ranked, depth)
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    ideal = np.cumsum(discounts)
    result = np.zeros((3, len(DEPTHS)))
    for column, k in enumerate(min(k, depth) for k in DEPTHS):
        found = gains[:, :k].sum(axis=1)
        best = ideal[np.minimum(true, k) - 1]
        result[:, column] = (
            found.sum() / k,
            np.sum(found / true),
            np.sum(gains[:, :k] @ discounts[:k] / best),
        )
    return result


PART = Ranking
