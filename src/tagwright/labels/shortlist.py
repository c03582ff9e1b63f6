"""Shortlists: of very many labels only the highest of each text are kept, with their logits;
nothing is (n, L).
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Floats, Ints


class Shortlist(NamedTuple):
    """The k highest labels of n texts: ids and logits (n, k), falling; `log_sum` (n,) where
    probabilities sum to 1.
    """

    ids: Ints
    logits: Floats
    log_sum: Floats | None
    label_count: int

    def truth_cells(self, truth: csr_array) -> Bools:
        """Which cells of the shortlist are true, bool (n, k), of truth (n, L)."""
        count, width = truth.shape
        true = np.repeat(np.arange(count), np.diff(truth.indptr)) * width + truth.indices
        keys = np.arange(count)[:, None] * width + self.ids.astype(np.int64)
        return np.isin(keys, true, assume_unique=True)


class ShortScores(NamedTuple):
    """What a model says of n texts by their shortlists, each (n, k)."""

    shortlist: Shortlist
    probabilities: Floats
    chosen: Bools

    @property
    def logits(self) -> Floats:
        """The logits of the shortlists, (n, k)."""
        return self.shortlist.logits

    def cells(self, kept: Bools | None = None) -> tuple[Ints, Ints, Floats]:
        """Row, label id and probability of every chosen cell, in their order; of `kept` rows (n,)
        alone.
        """
        rows, places = np.nonzero(self.chosen if kept is None else self.chosen & kept[:, None])
        labels = self.shortlist.ids[rows, places].astype(np.int64)
        order = np.lexsort((labels, rows))
        return rows, labels[order], self.probabilities[rows, places][order]

    def highest(self) -> Ints:
        """The id of each text's highest label, (n,)."""
        return self.shortlist.ids[:, 0].astype(np.int64)

    def matrix(self, label_count: int | None = None) -> csr_array:
        """The choices, sparse bool (n, L)."""
        rows, labels, _ = self.cells()
        shape = (len(self.chosen), label_count or self.shortlist.label_count)
        return csr_array((np.ones(len(rows), bool), (rows, labels)), shape=shape)
