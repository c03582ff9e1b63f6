"""Rows whose logits pass by in chunks of labels: their sums and slopes by kernels, in the dtype of
the product.

Targets stay as sparse as they came. The slope has memory of its own: put over the logits it saves a
tensor of a chunk, but a listed cell must then be left out of the pass and read before it is
written, which took twice the time.
"""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from tagwright.arrays import Range
from tagwright.kernels._calls import call_of
from tagwright.kernels._entry import KernelOutput
from tagwright.loss_math.sparse import SparseMask, SparseTarget

# a loss: its name, options, target, mask and weights
Given: TypeAlias = tuple[
    str,
    dict[str, float],
    Tensor | SparseTarget,
    Tensor | SparseMask | None,
    dict[str, Tensor | None],
]


class _Chunks:
    """A loss's call, cut to some labels."""

    raw = True  # logits are wanted in the dtype of the product

    def __init__(
        self,
        name: str,
        options: dict[str, float],
        target: Tensor | SparseTarget,
        mask: Tensor | SparseMask | None,
        weights: dict[str, Tensor | None],
    ) -> None:
        self.name, self.options, self.target, self.mask, self.weights = (
            name,
            options,
            target,
            mask,
            weights,
        )
        self._slope: Tensor | None = None

    def _launch(
        self,
        logits: Tensor,
        labels: Range,
        answer: KernelOutput,
        upstream: Tensor | None,
        *,
        add: bool,
    ) -> None:
        target = self.target[:, labels] if isinstance(self.target, Tensor) else self.target
        mask = self.mask[:, labels] if isinstance(self.mask, Tensor) else self.mask
        call = call_of(self.name, logits, target, mask, self.weights, self.options)
        call.launch(upstream, answer, origin=labels.start, add=add)

    def _slope_of(self, logits: Tensor) -> Tensor:
        """Where the slope goes: the same memory for all chunks of one width."""
        if self._slope is None or self._slope.shape != logits.shape:
            self._slope = torch.empty_like(logits)
        return self._slope


class TermsOfChunks(_Chunks):
    """Sums of terms, (B,)."""

    def __init__(self, zeros: Tensor, share: float, *given: *Given) -> None:
        super().__init__(*given)
        self.total, self.share = zeros.clone(), share

    def add(self, logits: Tensor, labels: Range) -> None:
        """Add the terms of these labels."""
        self._launch(logits, labels, KernelOutput(self.total, None, None), None, add=True)

    def values(self) -> Tensor:
        """The sums (B,)."""
        return self.total * self.share

    def slope(
        self, logits: Tensor, labels: Range, upstream: Tensor, *, adding: bool = False
    ) -> Tensor:
        """The gradient (B, C); `adding` takes the chunk in as well."""
        slope = self._slope_of(logits)
        weight = (upstream * self.share).contiguous()
        self._launch(
            logits,
            labels,
            KernelOutput(self.total if adding else None, None, slope),
            weight,
            add=adding,
        )
        return slope


class LogSumsOfChunks(_Chunks):
    """The logs of both sums, (2, B)."""

    def __init__(
        self,
        zeros: Tensor,
        combine: Callable[[Tensor, Tensor], tuple[Tensor, ...]],
        *given: *Given,
    ) -> None:
        super().__init__(*given)
        self.logs, self.combine = zeros.new_full((2, len(zeros)), -torch.inf), combine

    def add(self, logits: Tensor, labels: Range) -> None:
        """Add these labels to both sums."""
        self._launch(logits, labels, KernelOutput(None, self.logs, None), None, add=True)

    def values(self) -> Tensor:
        """What the loss makes of the sums, (B,)."""
        return self.combine(*self.logs)[0]

    def slope(self, logits: Tensor, labels: Range, upstream: Tensor) -> Tensor:
        """Each label's share of its sums times what the sums move, (B, C)."""
        slope = self._slope_of(logits)
        self._launch(
            logits, labels, KernelOutput(None, self.logs, slope), upstream.contiguous(), add=False
        )
        return slope
