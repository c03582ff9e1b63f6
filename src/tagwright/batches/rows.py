"""Training rows: inputs, weights, and for each head its targets, what nobody judged and its tags,
by row number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor

from tagwright.arrays import Bools, Floats, Ints
from tagwright.batches.inputs import Inputs
from tagwright.batches.sparse import SparseRows
from tagwright.batches.token_windows import laid_out
from tagwright.losses import SparseMask, SparseTarget
from tagwright.tokenizers.tokens import Tokens


class HeadBatch(NamedTuple):
    """What one head learns of some rows; `known` is False where nobody judged a label."""

    target: Tensor | SparseTarget  # (B, L)
    known: Tensor | SparseMask | None = None  # (B, L)
    weight: Tensor | None = None  # (B,), 0 where the head has no answer
    soft: Tensor | None = None  # (B, L)
    excused: Tensor | None = None  # bool (B, L)
    # int64 (B, T): a tag's id for every position, -1 where none is asked for
    tags: Tensor | None = None
    shown: Tensor | None = None  # (B, L): what the slots of labels show, for a head that has such


class Batch(NamedTuple):
    """Tensors of some rows, and what each head learns of them."""

    inputs: tuple[Tensor, ...]
    heads: dict[str, HeadBatch]
    weight: Tensor | None  # (B,)

    @property
    def shown(self) -> Tensor | None:
        """What the slots of labels show, (B, L): at most one head has slots."""
        return next((head.shown for head in self.heads.values() if head.shown is not None), None)


@dataclass(frozen=True, kw_only=True)
class HeadRows:
    """What one head learns of rows. `unknown` (n, L) and `soft` labels (n, L) may be missing.

    `excused` bool (n, L) are labels that the words of a text speak for, for a mask that asks for
    them. `tags` has an id for every position of the inputs' tokens, -1 where none is asked for; a
    head that has tags has L = 0. `labelled` (n,) is False where the head has no answer; None: it
    always has. `sparse` rows never become (B, L): their batches name the cells that count.
    """

    target: csr_array  # (n, L)
    unknown: csr_array | None = None
    sparse: bool = False
    soft: Floats | csr_array | None = None
    excused: csr_array | None = None
    tags: Ints | None = None
    labelled: Bools | None = None

    def batch(
        self,
        index: Ints,
        weight: Tensor | None,
        tokens: Tokens | None,
        device: torch.device | str,
    ) -> HeadBatch:
        """The rows `index`, in that order, on a device; `weight` is that of the rows, `tokens` are
        those of tags.
        """
        if self.labelled is not None:
            own = torch.from_numpy(self.labelled[index].astype(np.float32)).to(device)
            weight = own if weight is None else own * weight
        if self.sparse:
            return HeadBatch(*self._named(index, device), weight)
        target = torch.from_numpy(self.target[index].toarray()).to(device)
        known = (
            None
            if self.unknown is None
            else torch.from_numpy(self.unknown[index].toarray() == 0).to(device)
        )
        soft = None if self.soft is None else self._soft(index).to(device)
        excused = (
            None
            if self.excused is None
            else torch.from_numpy(self.excused[index].toarray()).to(device)
        )
        tags = None
        if self.tags is not None and tokens is not None:
            tags = torch.from_numpy(laid_out(self.tags, tokens.offsets, index)).to(device)
        return HeadBatch(target, known, weight, soft, excused, tags)

    def _soft(self, index: Ints) -> Tensor:
        part = self.soft[index]  # type: ignore[index]
        return torch.from_numpy(part if isinstance(part, np.ndarray) else part.toarray())

    def _named(
        self, index: Ints, device: torch.device | str
    ) -> tuple[SparseTarget, SparseMask | None]:
        gold = SparseRows.of(self.target, index).to(device)
        target = SparseTarget(gold.ids, gold.offsets, gold.values)
        if self.unknown is None:
            return target, None
        unjudged = SparseRows.of(self.unknown, index).to(device)
        return target, SparseMask(unjudged.ids, unjudged.offsets)

    def __add__(self, other: "HeadRows") -> "HeadRows":
        """These rows, then the others; what is made of all rows together, soft or excused labels,
        is not kept.
        """
        unknown, labelled = None, None
        if self.unknown is not None or other.unknown is not None:
            unknown = vstack(
                [_or_zeros(self.unknown, self.target), _or_zeros(other.unknown, other.target)],
                "csr",
            )
        if self.labelled is not None or other.labelled is not None:
            labelled = np.concatenate(
                [_or_true(self.labelled, self.target), _or_true(other.labelled, other.target)]
            )
        tags = (
            None
            if self.tags is None or other.tags is None
            else np.concatenate([self.tags, other.tags])
        )
        target = vstack([self.target, other.target], "csr")
        return HeadRows(
            target=target, unknown=unknown, sparse=self.sparse, tags=tags, labelled=labelled
        )


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows to learn from, and what each head learns of them; `weight` (n,) may be missing."""

    inputs: Inputs
    heads: Mapping[str, HeadRows]
    weight: Floats | None = None

    @property
    def sizes(self) -> Ints | None:
        """What each row counts in the mean over a batch, (n,): its tokens that any head has a tag
        for, where every head tags tokens; None: one each."""
        tags = [head.tags for head in self.heads.values() if head.tags is not None]
        tokens = self.inputs.tokens
        if len(tags) < len(self.heads) or tokens is None:
            return None
        offsets = tokens.offsets
        return np.diff(np.append(0, np.cumsum(np.any([ids >= 0 for ids in tags], axis=0)))[offsets])

    @property
    def sparse(self) -> bool:
        """Whether some head takes its labels in chunks."""
        return any(head.sparse for head in self.heads.values())

    def batch(self, index: Ints, device: torch.device | str) -> Batch:
        """The rows `index`, in that order, on a device."""
        inputs = tuple(tensor.to(device) for tensor in self.inputs.batch(index))
        weight = None if self.weight is None else torch.from_numpy(self.weight[index]).to(device)
        tokens = self.inputs.tokens
        heads = {
            name: head.batch(index, weight, tokens, device) for name, head in self.heads.items()
        }
        return Batch(inputs, heads, weight)

    def __add__(self, other: "Rows") -> "Rows":
        """These rows, then the others."""
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate(
                [_or_ones(self.weight, self.inputs), _or_ones(other.weight, other.inputs)]
            )
        heads = {name: head + other.heads[name] for name, head in self.heads.items()}
        return Rows(inputs=self.inputs.joined(other.inputs), heads=heads, weight=weight)


def _or_zeros(matrix: csr_array | None, like: csr_array) -> csr_array:
    return csr_array(like.shape, dtype=np.float32) if matrix is None else matrix


def _or_true(flags: Bools | None, like: csr_array) -> Bools:
    return np.ones(like.shape[0], bool) if flags is None else flags


def _or_ones(weight: Floats | None, like: Inputs) -> Floats:
    return np.ones(len(like.lengths), np.float32) if weight is None else weight
