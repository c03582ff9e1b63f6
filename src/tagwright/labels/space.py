"""The label space: train's labels in a stable order, with counts; strings in, ids out, joined by
name.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Ints
from tagwright.errors import DataError
from tagwright.storage.files import value_of


class Encoded(NamedTuple):
    """Label ids of n rows: row i has ids[offsets[i]:offsets[i + 1]], ascending and without
    repeats.
    """

    ids: Ints  # int64 (N,)
    offsets: Ints  # int64 (n + 1,)
    unseen: dict[str, int]  # labels outside the space, with how often they came; they are dropped

    def matrix(self, label_count: int) -> csr_array:
        """Multi-hot (n, L), float32, sparse."""
        ones = np.ones(len(self.ids), np.float32)
        return csr_array((ones, self.ids, self.offsets), shape=(len(self.offsets) - 1, label_count))


@dataclass(frozen=True, kw_only=True)
class LabelSpace:
    """Names in alphabetical order with their counts in train; `exclusive` when a text has exactly
    one.

    >>> space = LabelSpace.of([["b"], ["a", "b"], []])
    >>> space.names, space.counts, space.exclusive
    (('a', 'b'), (1, 2), False)
    >>> space.encode([["b", "z"], ["b", "a"]])[:2]
    (array([1, 0, 1]), array([0, 1, 3]))
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    exclusive: bool = False

    @classmethod
    def of(
        cls,
        labels: "pa.ChunkedArray | pa.Array | Iterable[Sequence[str]]",
        *,
        exclusive: bool = False,
    ) -> "LabelSpace":
        """Learn the space from train's label lists. Rows that are null (unlabelled) do not
        count.
        """
        lists = _lists(labels)
        names = sorted(pc.unique(pc.list_flatten(lists)).drop_null().to_pylist())
        if len(names) < 2:
            raise DataError(
                f"a tagger needs at least two labels, found {names}; check the label column"
            )
        space = cls(names=tuple(names), counts=(0,) * len(names), exclusive=exclusive)
        # a label twice on a row counts once
        counts = np.bincount(space.encode(lists).ids, minlength=len(names))
        return replace(space, counts=tuple(counts.tolist()))

    @cached_property
    def index(self) -> dict[str, int]:
        """Name to id."""
        return {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, labels: "pa.ChunkedArray | pa.Array | Iterable[Sequence[str]]") -> Encoded:
        """Ids of every row's labels; names outside the space are dropped and counted, null rows are
        empty.
        """
        lists = _lists(labels)
        lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
        flat = pc.list_flatten(lists)
        ids = pc.index_in(flat, value_set=pa.array(self.names, flat.type))
        known = pc.is_valid(ids).to_numpy(zero_copy_only=False)
        strange = pc.value_counts(flat.filter(pa.array(~known)))
        unseen = dict(zip(strange.field("values").to_pylist(), strange.field("counts").to_pylist()))
        keys = rows[known] * len(self) + ids.filter(pa.array(known)).to_numpy().astype(np.int64)
        if not (keys[1:] > keys[:-1]).all():  # one label a row is in order as it stands
            keys = np.unique(keys)
        offsets = np.searchsorted(keys, np.arange(len(lists) + 1) * len(self))
        return Encoded(keys % len(self), offsets.astype(np.int64), unseen)

    def decode(self, chosen: Bools) -> list[list[str]]:
        """Names of the true cells of (n, L)."""
        rows, columns = np.nonzero(chosen)
        result: list[list[str]] = [[] for _ in range(len(chosen))]
        for row, column in zip(rows.tolist(), columns.tolist()):
            result[row].append(self.names[column])
        return result

    def save(self, path: Path) -> None:
        """Write labels.json."""
        content = {"names": self.names, "counts": self.counts, "exclusive": self.exclusive}
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def from_dict(cls, content: Mapping[str, object]) -> "LabelSpace":
        """From what `save` wrote."""
        names, counts = value_of(content, "names", list), value_of(content, "counts", list)
        if not names or {type(name) for name in names} != {str} or len(set(names)) < len(names):
            raise ValueError("names must be one or more strings, each another one")
        if (
            {type(count) for count in counts} != {int}
            or min(counts) < 0
            or len(counts) != len(names)
        ):
            raise ValueError("counts must have a whole number from 0 for each name")
        return cls(
            names=tuple(names), counts=tuple(counts), exclusive=value_of(content, "exclusive", bool)
        )


def _lists(
    labels: "pa.ChunkedArray | pa.Array | Iterable[Sequence[str]]",
) -> "pa.ChunkedArray | pa.Array":
    if isinstance(labels, pa.ChunkedArray | pa.Array):
        return labels
    return pa.array([None if row is None else list(row) for row in labels], pa.list_(pa.string()))
