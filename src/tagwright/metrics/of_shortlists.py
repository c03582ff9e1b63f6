"""The families' states from shortlists: truth and choices sparse (n, L), and of the scores only the
highest labels.

Counts, rows, bands and confusions need no more, and are exact. Of the ranking its first places are
known; what needs the whole ranking or every probability (lrap, ranking loss, coverage, average
precision, calibration) is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from tagwright.arrays import Floats, Ints
from tagwright.errors import SettingsError, ShapeError
from tagwright.labels.shortlist import Shortlist
from tagwright.metrics import Measures, States, metric
from tagwright.metrics._agreement import MEASURES, agreement
from tagwright.metrics._chunk import Convention, LabelCounts, merge
from tagwright.metrics._ranks import rank_rows
from tagwright.metrics.bands import Bands
from tagwright.metrics.confusion import Confusion, Errors
from tagwright.metrics.counts import Counts
from tagwright.metrics.examples import Examples
from tagwright.metrics.ranking import DEPTHS, top_results, top_sums

WATCHED = "ndcg_at_5"  # what the best model is chosen by: it needs no decision
TOP = (
    "one_error",
    *(f"{name}_at_{k}" for name in ("precision", "recall", "ndcg") for k in DEPTHS),
)
GIVEN = {*Counts.METRICS, *Examples.METRICS, *Bands.METRICS, *Confusion.METRICS, *TOP}


@dataclass(frozen=True, eq=False, kw_only=True)
class Top:
    """The first places of the ranking: sums over rows, as in `Ranking`; adding states adds the
    sums.
    """

    rows: int
    top: Floats  # (3, 3): precision, recall, ndcg at each of the depths

    def __add__(self, other: "Top") -> "Top":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `TOP`; NaN without rows."""
        return top_results(self.top, self.rows)


def require_given(name: str) -> str:
    """The metric's name, if a shortlist gives it."""
    metric(name)
    if name not in GIVEN:
        raise SettingsError(
            f"{name} needs the scores of all labels; with so many labels watch one that a shortlist"
            f" gives, such as {WATCHED}, precision_at_1 or micro_f1"
        )
    return name


def measure_shortlist(
    shortlist: Shortlist,
    truth: csr_array,
    chosen: csr_array,
    *,
    rows: Ints | None = None,
    names: Iterable[str] | None = None,
) -> Measures:
    """Measure rows by their shortlists: truth and chosen are sparse bool (n, L); the options are
    those of `measure`.
    """
    if truth.shape != chosen.shape or truth.shape[0] != len(shortlist.ids):
        raise ShapeError(
            f"truth {truth.shape} and chosen {chosen.shape} must be of {len(shortlist.ids)} texts"
        )
    wanted = [require_given(name) for name in names] if names is not None else None
    if wanted is not None and set(wanted) <= set(TOP):
        return Measures(
            label_count=truth.shape[1], states=States(ranking=_ranking(shortlist, truth))
        )
    truth, chosen = truth.astype(np.int64), chosen.astype(np.int64)
    counts = _counts(truth, chosen)
    states = States(
        bands=Bands(counts=counts),
        confusion=_confusion(truth, chosen, rows),
        counts=counts,
        examples=_examples(truth, chosen),
        ranking=_ranking(shortlist, truth),
    )
    return Measures(label_count=truth.shape[1], states=states)


def _counts(truth: csr_array, chosen: csr_array) -> Counts:
    hits = (truth * chosen).sum(axis=0)
    return Counts(
        rows=truth.shape[0],
        hits=hits,
        wrong=chosen.sum(axis=0) - hits,
        missed=truth.sum(axis=0) - hits,
    )


def _examples(truth: csr_array, chosen: csr_array) -> Examples:
    hits, true, picked = (truth * chosen).sum(axis=1), truth.sum(axis=1), chosen.sum(axis=1)
    values = agreement(hits, picked - hits, true - hits, empty=0.0)
    return Examples(
        rows=truth.shape[0],
        exact=int(np.sum((true == hits) & (picked == hits))),
        exclusive=int(np.sum((true == 1) & (picked == 1))),
        unlabelled=int(np.sum((true == 0) & (picked == 0))),
        unchosen=int(np.sum(picked == 0)),
        true=int(true.sum()),
        chosen=int(picked.sum()),
        sums=np.array([values[name].sum() for name in MEASURES]),
    )


def _confusion(truth: csr_array, chosen: csr_array, rows: Ints | None) -> Confusion:
    hits = truth * chosen
    missed, wrong = _without_zeros(truth - hits), _without_zeros(chosen - hits)
    confused = np.flatnonzero((np.diff(missed.indptr) > 0) & (np.diff(wrong.indptr) > 0))
    left, right = missed[confused], wrong[confused]
    errors = () if rows is None else (Errors(np.asarray(rows)[confused], left, right),)
    return Confusion(
        rows=truth.shape[0], confused=len(confused), pairs=csr_array(left.T @ right), errors=errors
    )


def _ranking(shortlist: Shortlist, truth: csr_array) -> Top:
    true = np.diff(truth.indptr)
    labelled = true > 0
    ranked = rank_rows(shortlist.logits[labelled], shortlist.truth_cells(truth)[labelled])
    return Top(rows=truth.shape[0], top=top_sums(ranked, true[labelled]))


def _without_zeros(matrix: csr_array) -> csr_array:
    matrix = csr_array(matrix)
    matrix.eliminate_zeros()
    return matrix
