"""Values and gradient of a loss in one go, some rows at a time: on a CPU, where memory is the limit and not arithmetic.

Plain operations on a (B, L) tensor write and read it anew for every step. Here a block of rows goes through all steps
while it lies in the cache, and the backward pass only scales the gradient that is there already.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tagwright.losses._check import eager

# logits and target (b, L), and the block's rows -> values (b,) and their gradient (b, L)
Kernel: TypeAlias = Callable[[Tensor, Tensor, slice], tuple[Tensor, Tensor]]

CELLS = 2**20  # smaller blocks lie closer to the core, but the calls then cost more than the memory


def fusable(logits: Tensor) -> bool:
    """Whether the fused form serves: on a CPU, in a plain call, with a gradient to make."""
    return logits.device.type == "cpu" and logits.requires_grad and torch.is_grad_enabled() and eager(logits)


def fused(kernel: Kernel, logits: Tensor, target: Tensor) -> Tensor:
    """The kernel's values (B,) with its gradient."""
    values: Tensor = _Fused.apply(logits, target, kernel)
    return values


class _Fused(torch.autograd.Function):
    """Keeps the gradient and nothing else."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor, kernel: Kernel) -> Tensor:
        rows, label_count = logits.shape
        size = max(1, CELLS // max(label_count, 1))
        if size >= rows:
            values, gradient = kernel(logits, target, slice(0, rows))
        else:
            values, gradient = logits.new_empty(rows), torch.empty_like(logits)
            for start in range(0, rows, size):
                block = slice(start, start + size)
                values[block], gradient[block] = kernel(logits[block], target[block], block)
        ctx.save_for_backward(gradient)
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, None], None, None
