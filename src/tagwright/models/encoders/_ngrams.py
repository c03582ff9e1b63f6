"""Word n-grams of tokenized texts as sublinear TF-IDF rows, the features of `bow`.

An n-gram is kept if enough documents hold it; then its first n - 1 words are kept too, so a gram is
the pair (its prefix's index, its last word) and needs one int64 key at any order, exactly, without
hashing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from tagwright.arrays import Floats, Ints, Numbers, Range
from tagwright.data.slices import bounds
from tagwright.errors import ModelError, ShapeError
from tagwright.tokenizers.tokens import Tokens

# at a time, where a text has no more: a token takes some 80 bytes while its grams are counted
TOKENS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class NGrams:
    """The kept n-grams: columns are the grams of one word, then of two, and so on, each in the
    order of its keys.

    >>> tokens = Tokens(np.array([3, 1, 3, 1, 2], np.int32), np.array([0, 2, 5]))
    >>> grams = NGrams.learn(tokens)
    >>> [keys.tolist() for keys in grams.keys], grams.features(tokens).shape
    ([[1, 3], [5]], (2, 3))
    """

    # one int64 array an order, ascending: prefix index * base + last word
    keys: tuple[Ints, ...]
    idf: Floats  # float32 (d,)
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
        """Keep the grams of up to `longest` words in at least `min_documents` texts; words in
        `ignore` break grams.
        """
        _require_flat(tokens)
        base = int(tokens.ids.max(initial=-1)) + 1
        keys: list[Ints] = []
        counts: list[Ints] = []
        prefix: Ints = np.zeros(len(tokens.ids), np.int32)
        for order in range(longest):
            parts = list(_grams(tokens, prefix, ignore, base=base, order=order))
            found, held = _merged(parts)
            kept = (held >= min_documents) & (found >= 0)  # found[0] is -1 where a gram is missing
            keys.append(found[kept])
            counts.append(held[kept])
            for part in parts:
                prefix[part.span] = _find(keys[-1], part.keys)[prefix[part.span]]
        documents = np.concatenate([np.empty(0, np.int64), *counts[shortest - 1 :]])
        idf = np.log((1 + len(tokens)) / (1 + documents)) + 1  # scikit-learn's smooth idf
        return cls(keys=tuple(keys), idf=idf.astype(np.float32), base=base, shortest=shortest)

    @property
    def width(self) -> int:
        """Number of columns d."""
        return len(self.idf)

    def features(self, tokens: Tokens) -> csr_array:
        """(1 + log count) * idf, rows of length 1, float32 (n, d), columns ascending. No known
        grams: the row is 0.
        """
        _require_flat(tokens)
        parts = [self._rows(part) for _, part in _parts(tokens)]
        return vstack(parts, format="csr") if len(parts) > 1 else parts[0]

    def _rows(self, tokens: Tokens) -> csr_array:
        words = np.where(tokens.ids < self.base, tokens.ids.astype(np.int64), -1)
        prefix: Ints = np.zeros(len(words), np.int64)
        blocks = []
        for order, keys in enumerate(self.keys):
            raw = _join(prefix, words, tokens.offsets, base=self.base, order=order)
            prefix = _find(keys, raw)
            if order + 1 >= self.shortest:
                blocks.append(_counts(prefix, tokens.offsets, len(keys)))
        rows = hstack(blocks, format="csr")
        rows.data = (1 + np.log(rows.data)) * self.idf[rows.indices]
        lengths = np.sqrt(np.bincount(_owners(rows.indptr), np.square(rows.data), len(tokens)))
        rows.data /= np.maximum(lengths, np.finfo(np.float32).tiny)[_owners(rows.indptr)].astype(
            np.float32
        )
        return rows

    def arrays(self) -> dict[str, Numbers]:
        """Everything as plain arrays, for a safetensors or npz file."""
        named = {f"keys_{order}": keys for order, keys in enumerate(self.keys, start=1)}
        return {
            **named,
            "idf": self.idf,
            "base": np.array(self.base),
            "shortest": np.array(self.shortest),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Numbers]) -> "NGrams":
        """The inverse of `arrays`."""
        longest = sum(name.startswith("keys_") for name in arrays)
        keys, idf = tuple(arrays[f"keys_{order}"] for order in range(1, longest + 1)), arrays["idf"]
        base, shortest = int(arrays["base"]), int(arrays["shortest"])
        width = sum(map(len, keys[shortest - 1 :]))
        if (
            not 1 <= shortest <= longest
            or idf.shape != (width,)
            or any(key.shape != (len(key),) for key in keys)
        ):
            raise ModelError("the arrays of n-grams do not belong together; make the model anew")
        if idf.dtype != np.float32 or {key.dtype.kind for key in keys} != {"i"}:
            raise ModelError(
                "n-grams want whole numbers as keys, and idf in float32; make the model anew"
            )
        return cls(
            keys=cast(tuple[Ints, ...], keys),
            idf=cast(Floats, idf),
            base=base,
            shortest=shortest,
        )


class Grams(NamedTuple):
    """The grams of some texts: their keys, ascending, and how many of the texts have each."""

    span: Range  # of the tokens
    keys: Ints
    documents: Ints


def _grams(
    tokens: Tokens, prefix: Ints, ignore: tuple[int, ...], *, base: int, order: int
) -> Iterator[Grams]:
    """The grams of `order` + 1 words, some texts at a time; `prefix` (N,) becomes their places
    among these.
    """
    for span, part in _parts(tokens):
        words = np.where(np.isin(part.ids, ignore), -1, part.ids.astype(np.int64))
        raw = _join(prefix[span].astype(np.int64), words, part.offsets, base=base, order=order)
        keys, prefix[span] = np.unique(raw, return_inverse=True)
        documents = np.bincount(
            _counts(prefix[span], part.offsets, len(keys)).indices, minlength=len(keys)
        )
        yield Grams(span, keys, documents)


def _merged(parts: list[Grams]) -> tuple[Ints, Ints]:
    """All keys, ascending, and how many texts have each."""
    nothing = np.empty(0, np.int64)
    found, place = np.unique(
        np.concatenate([nothing, *(part.keys for part in parts)]), return_inverse=True
    )
    held = np.zeros(len(found), np.int64)
    np.add.at(held, place, np.concatenate([nothing, *(part.documents for part in parts)]))
    return found, held


def _parts(tokens: Tokens) -> Iterator[tuple[Range, Tokens]]:
    """Whole texts, of so many tokens at a time that memory does not grow with their number; one
    part at least.
    """
    for start, stop in (
        bounds(tokens.lengths, rows=max(len(tokens), 1), size=TOKENS) if len(tokens) else [(0, 0)]
    ):
        span = slice(*tokens.offsets[[start, stop]].tolist())
        yield (
            span,
            Tokens(tokens.ids[span], tokens.offsets[start : stop + 1] - tokens.offsets[start]),
        )


def _join(prefix: Ints, words: Ints, offsets: Ints, *, base: int, order: int) -> Ints:
    """The key of the gram of `order` + 1 words that ends at each token, -1 where there is none,
    (N,).
    """
    if order == 0:
        return words
    before = np.full_like(prefix, -1)
    before[1:] = prefix[:-1]
    starts = offsets[:-1]
    before[starts[starts < len(words)]] = -1  # a gram never crosses texts
    return np.where((before >= 0) & (words >= 0), before * base + words, -1)


def _find(keys: Ints, wanted: Ints) -> Ints:
    """The index of each wanted key in the sorted `keys`, -1 where it is not there."""
    if not len(keys):
        return np.full_like(wanted, -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _counts(columns: Ints, offsets: Ints, width: int) -> csr_array:
    """How often each text has each column, float32 (n, width); columns of -1 are left out."""
    known = columns >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[offsets]
    # half the bytes, and other libraries want it
    index = np.int32 if max(width, ends[-1]) < 2**31 else np.int64
    ones = np.ones(ends[-1], np.float32)
    counts = csr_array(
        (ones, columns[known].astype(index), ends.astype(index)), shape=(len(offsets) - 1, width)
    )
    counts.sum_duplicates()
    return counts


def _owners(offsets: Ints) -> Ints:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _require_flat(tokens: Tokens) -> None:
    if tokens.ids.ndim != 1:
        raise ShapeError(
            f"n-grams want one id a token, (N,), got {tokens.ids.shape}; tokenize with one feature"
            " a token"
        )
