"""Confused labels: which label was chosen where another was missed."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Floats, Ints
from tagwright.errors import ShapeError
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, check, mean, merge
from tagwright.metrics._family import Family


class ConfusedPair(NamedTuple):
    """Label `missed` was true but not chosen, `wrong` chosen but not true, in `times` rows, some of
    them in `rows`.
    """

    missed: int
    wrong: int
    times: int
    rows: tuple[int, ...]


class Errors(NamedTuple):
    """Confused rows of one chunk: their indices (m,), and the missed and the wrong labels, (m, L)
    sparse.
    """

    rows: Ints
    missed: csr_array
    wrong: csr_array


@dataclass(frozen=True, eq=False, kw_only=True)
class Confusion(Family):
    """Counts of label pairs, sparse; adding states adds the counts.

    A row with missed labels M and wrongly chosen labels W adds 1 to every pair of M × W. With row
    indices the errors themselves are kept too (memory: the number of errors), so that `top` can
    name rows. scikit-learn's confusion matrix equals `pairs` off the diagonal where every row has
    exactly one true and one chosen label.
    """

    METRICS: ClassVar[Descriptions] = {
        "confused_share": (
            "share of rows in which a true label is missed and a wrong one chosen",
            False,
        ),
    }
    ROWS = True

    rows: int
    confused: int  # rows with a missed and a wrong label
    pairs: csr_array  # (L, L) int64: [missed, wrong]
    errors: tuple[Errors, ...] = ()

    @classmethod
    def of(
        cls,
        scores: Floats,
        truth: Bools,
        chosen: Bools,
        *,
        rows: Ints | None = None,
    ) -> "Confusion":
        """Count one chunk of rows: scores (n, L), truth (n, L) bool, chosen (n, L) bool; `rows`
        (n,): indices.
        """
        check(scores, truth, chosen)
        if rows is not None and np.shape(rows) != (len(truth),):
            raise ShapeError(
                f"rows must hold one index for each of the {len(truth)} rows, got shape"
                f" {np.shape(rows)}"
            )
        missed, wrong = truth & ~chosen, chosen & ~truth
        confused = np.flatnonzero(missed.any(axis=1) & wrong.any(axis=1))
        left, right = _sparse(missed[confused]), _sparse(wrong[confused])
        errors = () if rows is None else (Errors(np.asarray(rows)[confused], left, right),)
        return cls(
            rows=len(truth), confused=len(confused), pairs=csr_array(left.T @ right), errors=errors
        )

    def __add__(self, other: "Confusion") -> "Confusion":
        return merge(self, other)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS`; NaN without rows."""
        return {"confused_share": mean(self.confused, self.rows)}

    def top(self, count: int = 20, *, examples: int = 3) -> list[ConfusedPair]:
        """The most confused pairs, most frequent first, then by label; with their first rows where
        rows were given.
        """
        pairs = self.pairs.tocoo()
        missed, wrong = pairs.coords
        order = np.lexsort((wrong, missed, -pairs.data))[:count]
        found = zip(missed[order].tolist(), wrong[order].tolist(), pairs.data[order].tolist())
        return [ConfusedPair(i, j, n, self._rows(i, j, examples)) for i, j, n in found]

    def _rows(self, missed: int, wrong: int, limit: int) -> tuple[int, ...]:
        hits = [
            e.rows[_has(e.missed, missed, len(e.rows)) & _has(e.wrong, wrong, len(e.rows))]
            for e in self.errors
        ]
        return tuple(np.sort(np.concatenate(hits))[:limit].tolist()) if hits else ()


def _sparse(cells: Bools) -> csr_array:
    return csr_array(cells.astype(np.int64))


def _has(matrix: csr_array, label: int, rows: int) -> Bools:
    """Which rows hold this label, (rows,) bool."""
    result = np.zeros(rows, bool)
    places = np.flatnonzero(matrix.indices == label)
    result[np.searchsorted(matrix.indptr, places, side="right") - 1] = True
    return result


PART = Confusion
