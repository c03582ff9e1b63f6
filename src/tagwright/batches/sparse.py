"""Sparse rows: what a batch of bag-of-words features looks like."""

from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from tagwright.arrays import Ints


class SparseRows(NamedTuple):
    """Row i has columns ids[offsets[i]:offsets[i + 1]] with those values; no column twice in a
    row.
    """

    ids: Tensor  # int64 (N,)
    values: Tensor  # float32 (N,)
    offsets: Tensor  # int64 (B + 1,)

    @classmethod
    def of(cls, rows: csr_array, index: Ints) -> "SparseRows":
        """The rows `index` of a matrix (n, d), in that order."""
        lengths = np.diff(rows.indptr)[index]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(rows.indptr[index] - offsets[:-1], lengths)
        ids = torch.from_numpy(rows.indices[places].astype(np.int64))
        return cls(ids, torch.from_numpy(rows.data[places]), torch.from_numpy(offsets))

    def to(self, device: torch.device | str) -> "SparseRows":
        """The same rows on another device."""
        return SparseRows(self.ids.to(device), self.values.to(device), self.offsets.to(device))
