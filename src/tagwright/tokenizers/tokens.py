"""Tokens of many texts in one flat array, the way they wait for batches."""

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Ints


class Tokens(NamedTuple):
    """Text i has ids[offsets[i]:offsets[i + 1]].

    `ids` is (N,), or (N, F) where a token has several features (word, prefix, suffix, shape).
    """

    ids: Ints  # int32
    offsets: Ints  # int64 (n + 1,)

    @property
    def lengths(self) -> Ints:
        """Tokens of each text, (n,)."""
        return np.diff(self.offsets)

    @property
    def words(self) -> Ints:
        """The ids themselves, or of several features the first, (N,)."""
        return self.ids if self.ids.ndim == 1 else self.ids[:, 0]

    def joined(self, other: "Tokens") -> "Tokens":
        """These texts, then those of the other."""
        ids = np.concatenate([self.ids, other.ids])
        return Tokens(ids, np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]))

    def __len__(self) -> int:
        return len(self.offsets) - 1
