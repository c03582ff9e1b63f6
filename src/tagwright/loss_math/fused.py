"""Values and gradient of a loss in one go, some rows at a time: where memory is the limit and not
arithmetic.

Plain operations on a (B, L) tensor write and read it anew for every step. Here a block of rows goes
through all steps while it lies in the cache, and the backward pass only scales the gradient that is
there already.

Such a gradient has no graph. Where one is asked for (`create_graph=True`), the backward pass
differentiates the loss's plain form instead, so second and higher derivatives are right; they cost
what the plain form costs.
"""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias, TypeVarTuple

import torch
from torch import Tensor

from tagwright.arrays import Range
from tagwright.loss_math.check import eager
from tagwright.loss_math.context import Context

CELLS = 2**20  # smaller blocks lie closer to the core, but the calls then cost more than the memory

# a block of logits and where it lies -> its values and their gradient, None where none is asked for
Kernel: TypeAlias = Callable[[Tensor, Range], tuple[Tensor, Tensor | None]]
# logits -> the same values by operations that autograd knows
Plain: TypeAlias = Callable[[Tensor], Tensor]
Ts = TypeVarTuple("Ts")


def fusable(logits: Tensor, *given: Tensor | None) -> bool:
    """Whether the fused form serves: on a CPU, in a plain call, with a gradient to make, and of the
    logits alone.
    """
    if logits.device.type != "cpu" or not logits.requires_grad or not torch.is_grad_enabled():
        return False
    return eager(logits) and not learnt(given)


def learnt(given: Iterable[object]) -> bool:
    """Whether a tensor among these wants a gradient."""
    return any(isinstance(one, Tensor) and one.requires_grad for one in given)


def fused(
    kernel: Kernel, plain: Plain, logits: Tensor, *, cells: int = CELLS, by: int = 0
) -> Tensor:
    """The kernel's values, block after block of `cells` cells: of rows, (B,), or of columns
    (`by=1`), (L,).
    """
    values: Tensor = _Fused.apply(logits, kernel, plain, blocks_of(logits, cells, by), by)
    return values


def with_graph(
    plain: Callable[[*Ts], Tensor], given: tuple[*Ts], upstream: Tensor
) -> list[Tensor | None]:
    """The gradients of `plain(*given)` times upstream, each with a graph of its own, for every
    tensor that wants one.

    It is for a backward pass that runs with `create_graph=True`: grad mode is then on.
    """
    wanted = [isinstance(one, Tensor) and one.requires_grad for one in given]
    leaves = [one for one in given if isinstance(one, Tensor) and one.requires_grad]
    found = iter(torch.autograd.grad(plain(*given), leaves, upstream, create_graph=True))
    return [next(found) if wants else None for wants in wanted]


def blocks_of(logits: Tensor, cells: int, by: int) -> list[Range]:
    """Slices of the rows or columns of (B, L) logits, each of about so many cells and at least one
    of them.
    """
    length, width = logits.shape[by], logits.shape[1 - by]
    size = max(1, cells // max(width, 1))
    return [slice(start, min(start + size, length)) for start in range(0, length, size)] or [
        slice(0, 0)
    ]


class _Fusing(Context, Protocol):
    plain: Plain
    by: int
    saved_tensors: tuple[Tensor, Tensor]


class _Fused(torch.autograd.Function):
    """Keeps the gradient, and the logits for a graph of it."""

    @staticmethod
    def forward(
        ctx: _Fusing, logits: Tensor, kernel: Kernel, plain: Plain, blocks: list[Range], by: int
    ) -> Tensor:
        ctx.plain, ctx.by = plain, by
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
        ctx.save_for_backward(logits, gradient)
        return values

    @staticmethod
    def backward(ctx: _Fusing, upstream: Tensor) -> tuple[Tensor | None, ...]:
        logits, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():
            return *with_graph(ctx.plain, (logits,), upstream), None, None, None, None
        return (
            gradient * (upstream if ctx.by else upstream[:, None]).to(gradient.dtype),
            None,
            None,
            None,
            None,
        )
