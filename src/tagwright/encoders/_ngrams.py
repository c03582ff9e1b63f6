"""Word n-grams of tokenised texts as sublinear TF-IDF rows, the features of `bow`.

An n-gram is kept if enough documents hold it; then its first n - 1 words are kept too, so a gram is the pair
(its prefix's index, its last word) and needs one int64 key at any order, exactly, without hashing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from tagwright.batches.tokens import Tokens
from tagwright.errors import ShapeError


@dataclass(frozen=True, kw_only=True)
class NGrams:
    """The kept n-grams: columns are the grams of one word, then of two, and so on, each in the order of its keys.

    >>> tokens = Tokens(np.array([3, 1, 3, 1, 2], np.int32), np.array([0, 2, 5]))
    >>> grams = NGrams.learn(tokens)
    >>> [keys.tolist() for keys in grams.keys], grams.features(tokens).shape
    ([[1, 3], [5]], (2, 3))
    """

    keys: tuple[np.ndarray, ...]  # one int64 array an order, ascending: prefix index * base + last word
    idf: np.ndarray  # float32 (d,)
    base: int  # words are 0 .. base - 1; later ones are unknown
    shortest: int = 1  # shorter grams are only prefixes of others, and no columns

    @classmethod
    def learn(
        cls,
        tokens: Tokens,
        *,
        shortest: int = 1,
        longest: int = 2,
        min_documents: int = 2,
        ignore: tuple[int, ...] = (),
    ) -> "NGrams":
        """Keep the grams of up to `longest` words in at least `min_documents` texts; words in `ignore` break grams."""
        _require_flat(tokens)
        base = int(tokens.ids.max(initial=-1)) + 1
        words = np.where(np.isin(tokens.ids, ignore), -1, tokens.ids.astype(np.int64))
        keys, counts, prefix = [], [], np.zeros(len(words), np.int64)
        for order in range(longest):
            raw = _join(prefix, words, tokens.offsets, base=base, order=order)
            found, where = np.unique(raw, return_inverse=True)  # found[0] is -1 where a gram is missing
            held = np.bincount(_counts(where, tokens.offsets, len(found)).indices, minlength=len(found))
            kept = (held >= min_documents) & (found >= 0)
            keys.append(found[kept])
            counts.append(held[kept])
            prefix = np.where(kept, np.cumsum(kept) - 1, -1)[where]
        documents = np.concatenate([np.empty(0, np.int64), *counts[shortest - 1 :]])
        idf = np.log((1 + len(tokens)) / (1 + documents)) + 1  # scikit-learn's smooth idf
        return cls(keys=tuple(keys), idf=idf.astype(np.float32), base=base, shortest=shortest)

    @property
    def width(self) -> int:
        """Number of columns d."""
        return len(self.idf)

    def features(self, tokens: Tokens) -> csr_array:
        """(1 + log count) * idf, rows of length 1, float32 (n, d), columns ascending. No known grams: the row is 0."""
        _require_flat(tokens)
        words = np.where(tokens.ids < self.base, tokens.ids.astype(np.int64), -1)
        prefix, blocks = np.zeros(len(words), np.int64), []
        for order, keys in enumerate(self.keys):
            raw = _join(prefix, words, tokens.offsets, base=self.base, order=order)
            prefix = _find(keys, raw)
            if order + 1 >= self.shortest:
                blocks.append(_counts(prefix, tokens.offsets, len(keys)))
        rows = hstack(blocks, format="csr")
        rows.data = (1 + np.log(rows.data)) * self.idf[rows.indices]
        lengths = np.sqrt(np.bincount(_owners(rows.indptr), np.square(rows.data), len(tokens)))
        rows.data /= np.maximum(lengths, np.finfo(np.float32).tiny)[_owners(rows.indptr)].astype(np.float32)
        return rows

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as plain arrays, for a safetensors or npz file."""
        named = {f"keys_{order}": keys for order, keys in enumerate(self.keys, start=1)}
        return {**named, "idf": self.idf, "base": np.array(self.base), "shortest": np.array(self.shortest)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "NGrams":
        """The inverse of `arrays`."""
        longest = sum(name.startswith("keys_") for name in arrays)
        keys = tuple(arrays[f"keys_{order}"] for order in range(1, longest + 1))
        return cls(keys=keys, idf=arrays["idf"], base=int(arrays["base"]), shortest=int(arrays["shortest"]))


def _join(prefix: np.ndarray, words: np.ndarray, offsets: np.ndarray, *, base: int, order: int) -> np.ndarray:
    """The key of the gram of `order` + 1 words that ends at each token, -1 where there is none, (N,)."""
    if order == 0:
        return words
    before = np.full_like(prefix, -1)
    before[1:] = prefix[:-1]
    starts = offsets[:-1]
    before[starts[starts < len(words)]] = -1  # a gram never crosses texts
    return np.where((before >= 0) & (words >= 0), before * base + words, -1)


def _find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The index of each wanted key in the sorted `keys`, -1 where it is not there."""
    if not len(keys):
        return np.full_like(wanted, -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _counts(columns: np.ndarray, offsets: np.ndarray, width: int) -> csr_array:
    """How often each text has each column, float32 (n, width); columns of -1 are left out."""
    known = columns >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[offsets]
    index = np.int32 if max(width, ends[-1]) < 2**31 else np.int64  # half the bytes, and other libraries want it
    ones = np.ones(ends[-1], np.float32)
    counts = csr_array((ones, columns[known].astype(index), ends.astype(index)), shape=(len(offsets) - 1, width))
    counts.sum_duplicates()
    return counts


def _owners(offsets: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _require_flat(tokens: Tokens) -> None:
    if tokens.ids.ndim != 1:
        raise ShapeError(
            f"n-grams want one id a token, (N,), got {tokens.ids.shape}; tokenise with one feature a token"
        )
