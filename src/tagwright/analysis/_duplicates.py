"""Texts that stand in more than one place: copies within a split, leaks between splits, copies with
other labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tagwright.arrays import Ints
from tagwright.data.split import codes

SHOWN = 5  # examples that are kept of each finding


@dataclass(frozen=True, kw_only=True)
class CopiedText:
    """A text and where it stands: row numbers from 0, by split."""

    text: str
    rows: dict[str, list[int]]


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Texts that stand more than once in a split, and how many rows go if one of each is kept."""

    split: str
    texts: int
    surplus: int
    examples: tuple[CopiedText, ...]


@dataclass(frozen=True, kw_only=True)
class Leak:
    """Texts of `second` that also stand in `first`, and how many of its rows they are."""

    first: str
    second: str
    texts: int
    rows: int
    examples: tuple[CopiedText, ...]


@dataclass(frozen=True, kw_only=True)
class Conflicts:
    """Texts that stand in several places with different labels."""

    texts: int
    examples: tuple[CopiedText, ...]


class RowPlaces(NamedTuple):
    """All rows of all splits, one after the other; equal numbers are equal texts, 0 is the empty
    one.
    """

    names: tuple[str, ...]
    texts: pa.ChunkedArray  # (n,)
    numbers: Ints  # int64 (n,)
    split_of: Ints  # int64 (n,), into names
    row_of: Ints  # int64 (n,), from 0 in every split

    @classmethod
    def of(
        cls, texts: Mapping[str, pa.ChunkedArray], plain: Mapping[str, pa.ChunkedArray]
    ) -> "RowPlaces":
        """Number the texts of every split by how they read when plain."""
        sizes = [len(part) for part in texts.values()]
        numbers = codes(_joined([pa.chunked_array([[""]]), *plain.values()]))[1:]
        rows = np.concatenate([np.arange(size) for size in sizes])
        return cls(
            tuple(texts),
            _joined([*texts.values()]),
            numbers,
            np.repeat(np.arange(len(sizes)), sizes),
            rows,
        )

    def example(self, number: int) -> CopiedText:
        """The text with this number and all its rows."""
        here = np.flatnonzero(self.numbers == number)
        rows = {
            name: self.row_of[here[self.split_of[here] == split]].tolist()
            for split, name in enumerate(self.names)
        }
        return CopiedText(
            text=self.texts[here[0]].as_py(),
            rows={name: found for name, found in rows.items() if found},
        )

    def examples(self, numbers: Ints) -> tuple[CopiedText, ...]:
        """The first few of these texts."""
        return tuple(self.example(number) for number in numbers[:SHOWN].tolist())


def copies(places: RowPlaces) -> tuple[Copies, ...]:
    """Texts that a split holds more than once, for every split that has some."""
    found = []
    for split, name in enumerate(places.names):
        counts = _counts(places, split)
        texts = np.flatnonzero(counts > 1)
        surplus = int((counts[texts] - 1).sum())
        found.append(
            Copies(split=name, texts=len(texts), surplus=surplus, examples=places.examples(texts))
        )
    return tuple(one for one in found if one.texts)


def leaks(places: RowPlaces) -> tuple[Leak, ...]:
    """Texts that two splits share, for every two that share some."""
    found = []
    counts = [_counts(places, split) for split in range(len(places.names))]
    for first, second in combinations(range(len(places.names)), 2):
        texts = np.flatnonzero((counts[first] > 0) & (counts[second] > 0))
        names = {"first": places.names[first], "second": places.names[second]}
        rows = int(counts[second][texts].sum())
        found.append(Leak(**names, texts=len(texts), rows=rows, examples=places.examples(texts)))
    return tuple(one for one in found if one.texts)


def conflicts(places: RowPlaces, label_sets: Ints) -> Conflicts:
    """Texts whose rows differ in their labels; `label_sets` (n,) numbers the sets, -1 for an
    unlabelled row.
    """
    judged = (label_sets >= 0) & (places.numbers > 0)
    pairs = np.unique(np.stack([places.numbers[judged], label_sets[judged]]), axis=1)
    numbers, counts = np.unique(pairs[0], return_counts=True)
    texts = numbers[counts > 1]
    return Conflicts(texts=len(texts), examples=places.examples(texts))


def _joined(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    chunks = [chunk for column in columns for chunk in column.cast(pa.large_string()).chunks]
    return pa.chunked_array(chunks, pa.large_string())


def _counts(places: RowPlaces, split: int) -> Ints:
    """Rows of the split that hold each text; the empty one is none."""
    counts = np.bincount(
        places.numbers[places.split_of == split], minlength=int(places.numbers.max(initial=0)) + 1
    )
    counts[0] = 0
    return counts
