"""What an encoder is fed: rows of tokens, or rows of sparse features, by row number."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, Self

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.batches.sparse import SparseRows
from tagwright.tokenizers.tokens import Tokens


class Inputs(Protocol):
    """Rows that can be batched. `lengths` (n,) says what each costs."""

    @property
    def tokens(self) -> Tokens | None:
        """The tokens of all rows; None where rows are features."""

    @property
    def rooms(self) -> Mapping[str, int]:
        """Tokens that a batch may hold in prediction, by kind of device; {}: nobody minds."""

    @property
    def counts(self) -> Ints | int:
        """Windows that each row is read in, (n,)."""

    @property
    def ends(self) -> tuple[int, int] | None:
        """How many tokens of a row are read at its beginning and at its end; None: all, wherever
        they stand.
        """

    @property
    def row_a_text(self) -> bool:
        """Whether each row is one row of ids in a batch: not features, not windows."""

    @property
    def lengths(self) -> Ints:
        """Cost of each row, (n,)."""

    def batch(self, index: Ints) -> tuple[Tensor, ...]:
        """The tensors of some rows, in this order."""

    def joined(self, other: Self) -> Self:
        """These rows, then those of the other."""


class TokenInputs(NamedTuple):
    """Rows of token ids, cut at `limit`."""

    tokens: Tokens
    limit: int = 512

    @property
    def lengths(self) -> Ints:
        """Tokens of each row, (n,)."""
        return np.minimum(self.tokens.lengths, self.limit)

    @property
    def rooms(self) -> Mapping[str, int]:
        """None."""
        return {}

    @property
    def counts(self) -> int:
        """No windows."""
        return 1

    @property
    def row_a_text(self) -> bool:
        """Always."""
        return True

    @property
    def ends(self) -> tuple[int, int]:
        """How many tokens of a text are read at its beginning, and at its end where it is longer
        than both.
        """
        return self.limit, 0

    def batch(self, index: Ints) -> tuple[Tensor, ...]:
        """Ids (B, T) and lengths (B,)."""
        return tuple(collate(self.tokens, index, limit=self.limit))

    def joined(self, other: "TokenInputs") -> "TokenInputs":
        """These rows, then those of the other."""
        return TokenInputs(self.tokens.joined(other.tokens), self.limit)


class FeatureInputs(NamedTuple):
    """Rows of a sparse matrix."""

    matrix: csr_array

    @property
    def tokens(self) -> None:
        """None: features are no tokens."""

    @property
    def lengths(self) -> Ints:
        """Features of each row, (n,)."""
        return np.diff(self.matrix.indptr)

    @property
    def rooms(self) -> Mapping[str, int]:
        """None."""
        return {}

    @property
    def counts(self) -> int:
        """No windows."""
        return 1

    @property
    def ends(self) -> None:
        """Texts are read whole."""
        return None

    @property
    def row_a_text(self) -> bool:
        """Features are no ids."""
        return False

    def batch(self, index: Ints) -> tuple[Tensor, ...]:
        """Feature ids (N,), values (N,) and offsets (B + 1,)."""
        return tuple(SparseRows.of(self.matrix, index))

    def joined(self, other: "FeatureInputs") -> "FeatureInputs":
        """These rows, then those of the other."""
        return FeatureInputs(vstack([self.matrix, other.matrix], "csr"))


class Padded(NamedTuple):
    """A batch as encoders take it."""

    ids: Tensor  # int64 (B, T), or (B, T, F)
    lengths: Tensor  # int64 (B,)


def collate(tokens: Tokens, index: Ints, *, limit: int = 512) -> Padded:
    """Pad the texts at `index` to the longest of them, at least 1; of a text over `limit` the head
    is kept.
    """
    starts = tokens.offsets[index]
    lengths = np.minimum(tokens.offsets[np.asarray(index) + 1] - starts, limit)
    positions = np.arange(lengths.max(initial=1))
    inside = positions < lengths[:, None]  # (B, T)
    ids = np.zeros(inside.shape + tokens.ids.shape[1:], np.int64)
    ids[inside] = tokens.ids[(starts[:, None] + positions)[inside]]
    return Padded(torch.from_numpy(ids), torch.from_numpy(lengths))
