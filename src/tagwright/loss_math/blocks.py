"""A loss with sparse targets, some rows (or, of a batchwise loss, some labels) at a time.

A block's target is made dense for as long as the block takes, so that no (B, L) target ever exists;
its gradient is made at once, so that nothing else has to be kept for the backward pass.
"""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from tagwright.arrays import Range
from tagwright.loss_math.check import eager
from tagwright.loss_math.fused import blocks_of, fused, learnt
from tagwright.loss_math.sparse import SparseMask, SparseTarget, soft_of

CELLS = {"cpu": 2**18}  # a block's tensors stay in the cache of a core; a GPU wants large launches
CELLS_ELSEWHERE = 2**24

# of rows and of labels
Cut: TypeAlias = "tuple[slice[int | None, int | None, int | None], ...]"


class Dense(Protocol):
    """A loss of dense tensors, whose settings are further keywords."""

    def __call__(
        self, logits: Tensor, target: Tensor, mask: Tensor | None, /, **settings: object
    ) -> Tensor:
        """The values, not reduced."""


def in_blocks(
    function: Dense,
    logits: Tensor,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    settings: Mapping[str, object],
    batchwise: bool,
    extra_logits: int,
) -> Tensor:
    """The values of `function(logits, target, mask, **settings)`, (B,), or of a batchwise loss
    (L,).
    """
    rows, label_count = logits.shape[0], logits.shape[1] - extra_logits
    cells = CELLS.get(logits.device.type, CELLS_ELSEWHERE)

    def run(part: Tensor, block: Range) -> Tensor:
        cut: Cut = (slice(None), block) if batchwise else (block, slice(None))
        own = {name: _own(value, cut, (rows, label_count)) for name, value in settings.items()}
        truth = _dense(target, label_count, block, batchwise)
        return function(
            part,
            truth,
            None if mask is None else _dense(mask, label_count, block, batchwise),
            **own,
        )

    def kernel(part: Tensor, block: Range) -> tuple[Tensor, Tensor | None]:
        if not logits.requires_grad:
            return run(part, block), None
        with torch.enable_grad():
            leaf = part.detach().requires_grad_()
            value = run(leaf, block)
            return value.detach(), torch.autograd.grad(value.sum(), leaf)[0]

    def plain(logits: Tensor) -> Tensor:
        blocks = blocks_of(logits, cells, int(batchwise))
        return torch.cat(
            [run(logits[:, block] if batchwise else logits[block], block) for block in blocks]
        )

    if learnt((soft_of(target), *settings.values())) or not eager(logits):
        return plain(logits)
    return fused(kernel, plain, logits, cells=cells, by=int(batchwise))


def _own(value: object, cut: Cut, shape: tuple[int, int]) -> object:
    """The part of a setting that belongs to a block: of a tensor (L,), (B, 1), (1, L) or (B, L),
    else the whole.
    """
    if not isinstance(value, Tensor) or value.ndim == 0:
        return value
    if value.ndim == 1 and shape[1] != len(value):
        return value
    across = cut[1] if value.shape[-1] == shape[1] else slice(None)
    if value.ndim == 1:
        return value[across]
    return value[cut[0] if value.shape[0] == shape[0] else slice(None), across]


def _dense(
    given: Tensor | SparseTarget | SparseMask, label_count: int, block: Range, batchwise: bool
) -> Tensor:
    if isinstance(given, Tensor):
        return given[:, block] if batchwise else given[block]
    if not batchwise:
        return given.dense(label_count, block.start, block.stop)
    inside = (given.ids >= block.start) & (given.ids < block.stop)
    width = block.stop - block.start
    # labels of other blocks go to one spare column
    moved = given._replace(ids=torch.where(inside, given.ids - block.start, width))
    return moved.dense(width + 1)[:, :width]
