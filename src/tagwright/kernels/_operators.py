"""The kernels as operators that `torch.compile` keeps whole, with their derivatives.

Plain calls go past them: asking the dispatcher costs more than the kernel where batches are small.
"""

from typing import Any

import torch
from torch import Tensor

from tagwright.kernels._calls import ENTRIES, Call, rescale
from tagwright.kernels._entry import Cells


@torch.library.custom_op("tagwright::values", mutates_args=())
def values(
    logits: Tensor,
    name: str,
    options: list[float],
    target: Tensor | None,
    ids: Tensor | None,
    offsets: Tensor | None,
    soft: Tensor | None,
    background: float,
    mask: Tensor | None,
    off_ids: Tensor | None,
    off_offsets: Tensor | None,
    positive: Tensor | None,
    negative: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The loss of every row, (B,), and what its gradient needs beside the logits."""
    given = target, ids, offsets, soft, background, mask, off_ids, off_offsets, positive, negative
    answer = Call(name, options, Cells(logits, *given)).run()
    return answer.values, logits.new_empty(0) if answer.logs is None else answer.logs  # type: ignore[return-value]


@values.register_fake
def _(logits: Tensor, name: str, options: list[float], *given: Any) -> tuple[Tensor, Tensor]:
    rows = logits.shape[0]
    logs = logits.new_empty((2, rows), dtype=torch.float32) if ENTRIES[name].logs else logits.new_empty(0)
    return logits.new_empty(rows, dtype=torch.float32), logs


@torch.library.custom_op("tagwright::slopes", mutates_args=())
def slopes(
    logits: Tensor,
    upstream: Tensor,
    logs: Tensor,
    name: str,
    options: list[float],
    target: Tensor | None,
    ids: Tensor | None,
    offsets: Tensor | None,
    soft: Tensor | None,
    background: float,
    mask: Tensor | None,
    off_ids: Tensor | None,
    off_offsets: Tensor | None,
    positive: Tensor | None,
    negative: Tensor | None,
) -> Tensor:
    """The gradient of `values`, (B, L)."""
    given = target, ids, offsets, soft, background, mask, off_ids, off_offsets, positive, negative
    call = Call(name, options, Cells(logits, *given))
    answer = call.run(values=False, gradient=True, upstream=upstream.contiguous(), logs=logs if logs.numel() else None)
    return answer.gradient  # type: ignore[return-value]


@slopes.register_fake
def _(logits: Tensor, *given: Any) -> Tensor:
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


def _keep_values(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[0], output[1])
    ctx.given = inputs[1:]


def _values_backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    logits, logs = ctx.saved_tensors
    return slopes(logits, upstream, logs, *ctx.given), *(None for _ in ctx.given)


values.register_autograd(_values_backward, setup_context=_keep_values)


@torch.library.custom_op("tagwright::reduced", mutates_args=())
def reduced(
    logits: Tensor,
    name: str,
    options: list[float],
    row_weight: Tensor | None,
    scale: float,
    target: Tensor | None,
    ids: Tensor | None,
    offsets: Tensor | None,
    soft: Tensor | None,
    background: float,
    mask: Tensor | None,
    off_ids: Tensor | None,
    off_offsets: Tensor | None,
    positive: Tensor | None,
    negative: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The sum of scale * row weight * loss over the rows, and its gradient, (B, L)."""
    given = target, ids, offsets, soft, background, mask, off_ids, off_offsets, positive, negative
    answer = Call(name, options, Cells(logits, *given), row_weight, scale).run(gradient=True, total=True)
    return answer.values.sum(), answer.gradient  # type: ignore[return-value, union-attr]


@reduced.register_fake
def _(logits: Tensor, *given: Any) -> tuple[Tensor, Tensor]:
    gradient = torch.empty_like(logits, memory_format=torch.contiguous_format)
    return logits.new_empty((), dtype=torch.float32), gradient


@torch.library.custom_op("tagwright::rescaled", mutates_args=())
def rescaled(gradient: Tensor, upstream: Tensor) -> Tensor:
    """gradient * upstream. A copy, for what a graph has saved must stay as it is."""
    copy = gradient.clone()
    rescale(copy, upstream)
    return copy


@rescaled.register_fake
def _(gradient: Tensor, upstream: Tensor) -> Tensor:
    return torch.empty_like(gradient)


def _keep_gradient(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(output[1])
    ctx.given = len(inputs) - 1


def _reduced_backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    (gradient,) = ctx.saved_tensors
    return rescaled(gradient, upstream), *(None for _ in range(ctx.given))


reduced.register_autograd(_reduced_backward, setup_context=_keep_gradient)
