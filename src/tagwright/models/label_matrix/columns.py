"""Targets, masks and weights of all labels, cut to some of them: what a chunk of the label matrix
is trained on.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from tagwright.arrays import Range
from tagwright.losses import SparseMask, SparseTarget


class LabelBlock(NamedTuple):
    """The cells of some labels: target (B, C), mask (B, C), and weights that broadcast to them."""

    target: Tensor
    mask: Tensor | None
    positive_weight: Tensor | None
    negative_weight: Tensor | None


class Columns:
    """All cells of a batch, sparse or dense, that are handed out by columns. Asks the device for
    nothing.
    """

    def __init__(
        self,
        target: Tensor | SparseTarget,
        mask: Tensor | SparseMask | None,
        positive_weight: Tensor | None,
        negative_weight: Tensor | None,
        *,
        label_count: int,
        dtype: torch.dtype,
    ) -> None:
        self.target, self.mask, self.weights = target, mask, (positive_weight, negative_weight)
        self.label_count, self.dtype = label_count, dtype
        self._owners = {
            name: _owners(given)
            for name, given in (("target", target), ("mask", mask))
            if isinstance(given, SparseTarget | SparseMask)
        }

    def part(self, labels: Range) -> LabelBlock:
        """The cells of these labels, dense for as long as they are in use."""
        target, mask = self.target, self.mask
        if isinstance(target, SparseTarget):
            values = (
                torch.ones_like(target.ids, dtype=self.dtype)
                if target.values is None
                else target.values
            )
            truth = self._scattered(
                "target", target, values.to(self.dtype), target.background, labels
            )
        else:
            truth = target[:, labels].to(self.dtype)
        if isinstance(mask, SparseMask):
            mask = self._scattered(
                "mask", mask, torch.zeros_like(mask.ids, dtype=torch.bool), True, labels
            )
        elif mask is not None:
            mask = mask[:, labels]
        return LabelBlock(truth, mask, *(self._own(weight, labels) for weight in self.weights))

    def _own(self, weight: Tensor | None, labels: Range) -> Tensor | None:
        if weight is None or weight.ndim == 0 or weight.shape[-1] != self.label_count:
            return weight
        return weight[..., labels]

    def _scattered(
        self,
        name: str,
        given: SparseTarget | SparseMask,
        values: Tensor,
        background: float | bool,
        labels: Range,
    ) -> Tensor:
        owners, width = self._owners[name], labels.stop - labels.start
        rows = len(given.offsets) - 1
        inside = (given.ids >= labels.start) & (given.ids < labels.stop)
        # cells of other labels go to one spare place: leaving them out would ask the device how
        # many there are
        places = torch.where(inside, owners * width + given.ids - labels.start, rows * width)
        flat = torch.full((rows * width + 1,), background, dtype=values.dtype, device=values.device)
        return flat.scatter_(0, places, values)[:-1].view(rows, width)


def _owners(given: SparseTarget | SparseMask) -> Tensor:
    """The row of every named cell, (N,)."""
    cells = torch.arange(len(given.ids), device=given.ids.device)
    return torch.searchsorted(given.offsets, cells, right=True) - 1
