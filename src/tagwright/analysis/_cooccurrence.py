"""Labels that stand on the same rows more often than chance would have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from scipy.sparse import csr_array, triu

from tagwright.arrays import Ints

PAIRS = 1 << 30  # of labels that share a row, counted on all rows, that are looked at
DIFFERENT = 1 << 24  # of these, as many are held


@dataclass(frozen=True, kw_only=True)
class CoOccurrence:
    """Two labels that stand on the same rows `lift` times as often as chance would have it, above
    1.
    """

    left: str
    right: str
    rows: int
    lift: float


def together(names: Sequence[str], marks: csr_array, *, most: int) -> tuple[CoOccurrence, ...]:
    """The pairs above chance that stand together most often, with rows(a and b) * rows / (rows(a) *
    rows(b)).
    """
    counts, rows = np.bincount(marks.indices, minlength=marks.shape[1]), marks.shape[0]
    common = _common(marks, counts)
    pairs = triu(common.T @ common, k=1).tocoo()
    lifts = pairs.data * rows / counts[pairs.row] / counts[pairs.col]
    order = np.lexsort((pairs.col, pairs.row, -pairs.data))
    return tuple(
        CoOccurrence(
            left=names[pairs.row[at]],
            right=names[pairs.col[at]],
            rows=int(pairs.data[at]),
            lift=float(lifts[at]),
        )
        for at in order[lifts[order] > 1][:most]
    )


def _common(marks: csr_array, counts: Ints) -> csr_array:
    """The marks of the most common labels: of all, unless their pairs would take too much memory or
    time.

    A row of k labels has k² pairs, so that one of very many would be enough.
    """
    held = np.diff(marks.indptr)
    total = np.square(held, dtype=np.int64).sum()
    if total <= DIFFERENT or (total <= PAIRS and len(counts) ** 2 <= DIFFERENT):
        return marks
    rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")[marks.indices]
    rows = np.repeat(np.arange(marks.shape[0]), held)
    order = np.lexsort((rank, rows))
    # in its row, where common labels come first
    place = np.arange(len(order)) - np.repeat(marks.indptr[:-1], held)
    # (k + 1)² - k²
    pairs = np.cumsum(np.bincount(rank[order], weights=2 * place + 1, minlength=len(counts)))
    few, many = np.searchsorted(pairs, [DIFFERENT, PAIRS], side="right").tolist()
    kept = rank < max(few, min(many, isqrt(DIFFERENT)))
    return csr_array((marks.data[kept], (rows[kept], marks.indices[kept])), shape=marks.shape)
