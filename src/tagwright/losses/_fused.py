"""Values and gradient of a loss in one go, some rows at a time: where memory is the limit and not arithmetic.

Plain operations on a (B, L) tensor write and read it anew for every step. Here a block of rows goes through all steps
while it lies in the cache, and the backward pass only scales the gradient that is there already.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tagwright.losses._check import eager

CELLS = 2**20  # smaller blocks lie closer to the core, but the calls then cost more than the memory

# a block of logits and where it lies -> its values and their gradient, None where none is asked for
Kernel: TypeAlias = Callable[[Tensor, slice], tuple[Tensor, Tensor | None]]


def fusable(logits: Tensor) -> bool:
    """Whether the fused form serves: on a CPU, in a plain call, with a gradient to make."""
    return logits.device.type == "cpu" and logits.requires_grad and torch.is_grad_enabled() and eager(logits)


def fused(kernel: Kernel, logits: Tensor, *, cells: int = CELLS, by: int = 0) -> Tensor:
    """The kernel's values, block after block of `cells` cells: of rows, (B,), or of columns (`by=1`), (L,)."""
    values: Tensor = _Fused.apply(logits, kernel, blocks_of(logits, cells, by), by)
    return values


def blocks_of(logits: Tensor, cells: int, by: int) -> list[slice]:
    """Slices of the rows or columns of (B, L) logits, each of about so many cells and at least one of them."""
    length, width = logits.shape[by], logits.shape[1 - by]
    size = max(1, cells // max(width, 1))
    return [slice(start, min(start + size, length)) for start in range(0, length, size)] or [slice(0, 0)]


class _Fused(torch.autograd.Function):
    """Keeps the gradient and nothing else."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, kernel: Kernel, blocks: list[slice], by: int) -> Tensor:
        ctx.by = by
        if len(blocks) == 1:
            values, gradient = kernel(logits, blocks[0])
        else:
            gradient = torch.empty_like(logits) if ctx.needs_input_grad[0] else None
            answers = []
            for block in blocks:
                cut = (slice(None), block) if by else (block, slice(None))
                value, slope = kernel(logits[cut], block)
                answers.append(value)
                if gradient is not None and slope is not None:
                    gradient[cut] = slope
            values = torch.cat(answers)
        ctx.save_for_backward(gradient)
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * (upstream if ctx.by else upstream[:, None]).to(gradient.dtype), None, None, None
