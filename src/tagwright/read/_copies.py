"""Texts that stand in more than one place: copies within a split, leaks between splits, copies with other labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from tagwright.labels.space import Encoded
from tagwright.read.split import text_ids

SHOWN = 5  # examples that are kept of each finding


@dataclass(frozen=True, kw_only=True)
class Example:
    """A text and where it stands: row numbers from 0, by split."""

    text: str
    rows: dict[str, list[int]]


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Texts that stand more than once in a split, and how many rows go if one of each is kept."""

    split: str
    texts: int
    surplus: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class Leak:
    """Texts of `second` that also stand in `first`, and how many of its rows they are."""

    first: str
    second: str
    texts: int
    rows: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class Conflicts:
    """Texts that stand in several places with different labels."""

    texts: int
    examples: tuple[Example, ...]


class Places:
    """Every row of every split with the number of its text; equal numbers are equal texts, -1 is an empty one."""

    def __init__(self, texts: Mapping[str, pa.ChunkedArray]) -> None:
        self.names = list(texts)
        self.texts = pa.chunked_array([chunk.cast(pa.large_string()) for part in texts.values() for chunk in part.chunks])
        sizes = [len(part) for part in texts.values()]
        self.starts = np.cumsum([0, *sizes])
        self.split_of_row = np.repeat(np.arange(len(sizes)), sizes)
        ids = text_ids(self.texts)
        self.ids = np.where(text_ids(pa.chunked_array([pa.array([""], pa.large_string()), *self.texts.chunks]))[1:] == 0, -1, ids)
