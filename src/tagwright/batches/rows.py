"""Training rows: inputs, targets, what nobody judged, and weights, by row number."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor

from tagwright.batches.inputs import Inputs
from tagwright.batches.places import laid_out
from tagwright.batches.sparse import SparseRows
from tagwright.batches.tokens import Tokens
from tagwright.losses import SparseMask, SparseTarget


class Batch(NamedTuple):
    """Tensors of some rows; `known` is False where nobody judged a label."""

    inputs: tuple[Tensor, ...]
    target: Tensor | SparseTarget  # (B, L)
    known: Tensor | SparseMask | None  # (B, L)
    weight: Tensor | None  # (B,)
    soft: Tensor | None = None  # (B, L)
    excused: Tensor | None = None  # bool (B, L)
    tags: Tensor | None = None  # int64 (B, T): a tag's id for every position, -1 where none is asked for
    shown: Tensor | None = None  # (B, L): what the slots of labels show, for a head that has such


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows to learn from. `unknown` (n, L), `weight` (n,) and `soft` labels (n, L) may be missing.

    `excused` bool (n, L) are labels that the words of a text speak for, for a mask that asks for them. `tags` has an id
    for every position of the inputs' tokens, -1 where none is asked for; where there are only tags, L is 0.
    `sparse` rows never become (B, L): their batches name the cells that count.
    """

    inputs: Inputs
    target: csr_array  # (n, L)
    unknown: csr_array | None = None
    weight: np.ndarray | None = None
    sparse: bool = False
    soft: np.ndarray | csr_array | None = None
    excused: csr_array | None = None
    tags: np.ndarray | None = None

    @property
    def sizes(self) -> np.ndarray | None:
        """What each row counts in the mean over a batch, (n,): its tags where there are only tags; None: one each."""
        if self.tags is None or self.target.shape[1]:
            return None
        offsets = self.inputs.tokens.offsets  # type: ignore[attr-defined]
        return np.diff(np.append(0, np.cumsum(self.tags >= 0))[offsets])

    def batch(self, index: np.ndarray, device: torch.device | str) -> Batch:
        """The rows `index`, in that order, on a device."""
        inputs = tuple(tensor.to(device) for tensor in self.inputs.batch(index))
        weight = None if self.weight is None else torch.from_numpy(self.weight[index]).to(device)
        if self.sparse:
            return Batch(inputs, *self._named(index, device), weight)
        target = torch.from_numpy(self.target[index].toarray()).to(device)
        known = None if self.unknown is None else torch.from_numpy(self.unknown[index].toarray() == 0).to(device)
        soft = None if self.soft is None else self._soft(index).to(device)
        excused = None if self.excused is None else torch.from_numpy(self.excused[index].toarray()).to(device)
        tags = None if self.tags is None else torch.from_numpy(self._tags(index)).to(device)
        return Batch(inputs, target, known, weight, soft, excused, tags)

    def _tags(self, index: np.ndarray) -> np.ndarray:
        tokens: Tokens = self.inputs.tokens  # type: ignore[attr-defined]
        return laid_out(self.tags, tokens.offsets, index)  # type: ignore[arg-type]

    def _soft(self, index: np.ndarray) -> Tensor:
        part = self.soft[index]  # type: ignore[index]
        return torch.from_numpy(part if isinstance(part, np.ndarray) else part.toarray())

    def _named(self, index: np.ndarray, device: torch.device | str) -> tuple[SparseTarget, SparseMask | None]:
        gold = SparseRows.of(self.target, index).to(device)
        target = SparseTarget(gold.ids, gold.offsets, gold.values)
        if self.unknown is None:
            return target, None
        unjudged = SparseRows.of(self.unknown, index).to(device)
        return target, SparseMask(unjudged.ids, unjudged.offsets)

    def __add__(self, other: "Rows") -> "Rows":
        """These rows, then the others; what is made of all rows together, soft or excused labels, is not kept."""
        unknown, weight = None, None
        if self.unknown is not None or other.unknown is not None:
            unknown = vstack([_or_zeros(self.unknown, self.target), _or_zeros(other.unknown, other.target)], "csr")
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([_or_ones(self.weight, self.target), _or_ones(other.weight, other.target)])
        target, inputs = vstack([self.target, other.target], "csr"), self.inputs.joined(other.inputs)
        tags = None if self.tags is None or other.tags is None else np.concatenate([self.tags, other.tags])
        return Rows(inputs=inputs, target=target, unknown=unknown, weight=weight, sparse=self.sparse, tags=tags)


def _or_zeros(matrix: csr_array | None, like: csr_array) -> csr_array:
    return csr_array(like.shape, dtype=np.float32) if matrix is None else matrix


def _or_ones(weight: np.ndarray | None, like: csr_array) -> np.ndarray:
    return np.ones(like.shape[0], np.float32) if weight is None else weight
