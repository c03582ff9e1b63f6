"""A loss with sparse targets, some rows (or, of a batchwise loss, some labels) at a time.

A block's target is made dense for as long as the block takes, so that no (B, L) target ever exists; its gradient is
made at once, so that nothing else has to be kept for the backward pass.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tagwright.losses._check import eager
from tagwright.losses._sparse import SparseMask, SparseTarget

CELLS = {"cpu": 2**18}  # a block's tensors stay in the cache of a core; a GPU wants large launches
CELLS_ELSEWHERE = 2**24


def in_blocks(
    function: Callable[..., Tensor],
    logits: Tensor,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    settings: Mapping[str, Any],
    batchwise: bool,
    extra_logits: int,
) -> Tensor:
    """The values of `function(logits, target, mask, **settings)`, (B,), or of a batchwise loss (L,)."""
    rows, label_count = logits.shape[0], logits.shape[1] - extra_logits
    length, width = (label_count, rows) if batchwise else (rows, label_count)
    size = max(1, CELLS.get(logits.device.type, CELLS_ELSEWHERE) // max(width, 1))
    blocks = [slice(start, min(start + size, length)) for start in range(0, length, size)] or [slice(0, 0)]

    def run(part: Tensor, block: slice) -> Tensor:
        cut = (slice(None), block) if batchwise else (block, slice(None))
        own = {name: _own(value, cut, (rows, label_count)) for name, value in settings.items()}
        truth = _dense(target, label_count, block, batchwise)
        return function(part, truth, None if mask is None else _dense(mask, label_count, block, batchwise), **own)

    learnt = any(isinstance(value, Tensor) and value.requires_grad for value in settings.values())
    if learnt or not eager(logits):
        return torch.cat([run(logits[:, b] if batchwise else logits[b], b) for b in blocks])
    values: Tensor = _Blocks.apply(logits, run, blocks, batchwise)
    return values


def _own(value: Any, cut: tuple[slice, slice], shape: tuple[int, int]) -> Any:
    """The part of a setting that belongs to a block: of a tensor (L,), (B, 1), (1, L) or (B, L), else the whole."""
    if not isinstance(value, Tensor) or value.ndim == 0:
        return value
    if value.ndim == 1 and shape[1] != len(value):
        return value
    across = cut[1] if value.shape[-1] == shape[1] else slice(None)
    if value.ndim == 1:
        return value[across]
    return value[cut[0] if value.shape[0] == shape[0] else slice(None), across]


def _dense(given: Any, label_count: int, block: slice, batchwise: bool) -> Tensor:
    if isinstance(given, Tensor):
        return given[:, block] if batchwise else given[block]
    if not batchwise:
        return given.dense(label_count, block.start, block.stop)
    inside = (given.ids >= block.start) & (given.ids < block.stop)
    width = block.stop - block.start
    # labels of other blocks go to one spare column
    moved = given._replace(ids=torch.where(inside, given.ids - block.start, width))
    return moved.dense(width + 1)[:, :width]


class _Blocks(torch.autograd.Function):
    """Values block by block, each block's gradient made beside its values."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, run: Callable[[Tensor, slice], Tensor], blocks: list[slice], batchwise: bool
    ) -> Tensor:
        ctx.batchwise = batchwise
        gradient = torch.empty_like(logits) if ctx.needs_input_grad[0] else None
        values = []
        for block in blocks:
            cut = (slice(None), block) if batchwise else (block,)
            part = logits[cut].detach()
            if gradient is None:
                values.append(run(part, block))
                continue
            with torch.enable_grad():
                value = run(part.requires_grad_(), block)
                gradient[cut] = torch.autograd.grad(value.sum(), part)[0]
            values.append(value.detach())
        ctx.save_for_backward(gradient)
        return torch.cat(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        factor = upstream if ctx.batchwise else upstream[:, None]
        return gradient * factor.to(gradient.dtype), None, None, None
