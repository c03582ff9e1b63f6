"""The kernels as operators that `torch.compile` keeps whole, with their derivatives.

Plain calls go past them: asking the dispatcher costs more than the kernel where batches are small.
What every operator takes of a call stands last, as `KernelCells` holds it.
"""

from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from tagwright.kernels._calls import ENTRIES, Call, rescale
from tagwright.kernels._entry import KernelCells
from tagwright.loss_math.context import Context

_LOSS = "str name, float[] options"
_CELLS = (
    "Tensor? target, Tensor? ids, Tensor? offsets, Tensor? soft, float background, Tensor? mask,"
    " Tensor? off_ids, Tensor? off_offsets, Tensor? positive, Tensor? negative"
)

# `KernelCells` without the logits, and what an operator is given
OtherCells: TypeAlias = tuple[
    Tensor | None,
    Tensor | None,
    Tensor | None,
    Tensor | None,
    float,
    Tensor | None,
    Tensor | None,
    Tensor | None,
    Tensor | None,
    Tensor | None,
]
Inputs: TypeAlias = tuple[Tensor, *tuple[object, ...]]


class _OfValues(Context, Protocol):
    given: tuple[object, ...]
    saved_tensors: tuple[Tensor, Tensor]


class _OfReduced(Context, Protocol):
    given: int
    saved_tensors: tuple[Tensor]


def _values(
    logits: Tensor, name: str, options: list[float], *cells: *OtherCells
) -> tuple[Tensor, Tensor]:
    """The loss of every row, (B,), and what its gradient needs beside the logits."""
    answer = Call(name, options, KernelCells(logits, *cells)).run()
    return answer.values, logits.new_empty(0) if answer.logs is None else answer.logs  # type: ignore[return-value]


values = torch.library.custom_op(
    "tagwright::values",
    _values,
    mutates_args=(),
    schema=f"(Tensor logits, {_LOSS}, {_CELLS}) -> (Tensor, Tensor)",
)


@values.register_fake
def _(
    logits: Tensor, name: str, options: list[float], *cells: *OtherCells
) -> tuple[Tensor, Tensor]:
    rows = logits.shape[0]
    logs = (
        logits.new_empty((2, rows), dtype=torch.float32)
        if ENTRIES[name].logs
        else logits.new_empty(0)
    )
    return logits.new_empty(rows, dtype=torch.float32), logs


def _slopes(
    logits: Tensor,
    upstream: Tensor,
    logs: Tensor,
    name: str,
    options: list[float],
    *cells: *OtherCells,
) -> Tensor:
    """The gradient of `values`, (B, L)."""
    call, kept = Call(name, options, KernelCells(logits, *cells)), logs if logs.numel() else None
    answer = call.run(values=False, gradient=True, upstream=upstream.contiguous(), logs=kept)
    return answer.gradient  # type: ignore[return-value]


slopes = torch.library.custom_op(
    "tagwright::slopes",
    _slopes,
    mutates_args=(),
    schema=f"(Tensor logits, Tensor upstream, Tensor logs, {_LOSS}, {_CELLS}) -> Tensor",
)


@slopes.register_fake
def _(logits: Tensor, *given: object) -> Tensor:
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


def _keep_values(ctx: _OfValues, inputs: Inputs, output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[0], output[1])
    ctx.given = inputs[1:]


def _values_backward(ctx: _OfValues, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    logits, logs = ctx.saved_tensors
    return slopes(logits, upstream, logs, *ctx.given), *(None for _ in ctx.given)


values.register_autograd(_values_backward, setup_context=_keep_values)


def _reduced(
    logits: Tensor,
    name: str,
    options: list[float],
    row_weight: Tensor | None,
    scale: float,
    *cells: *OtherCells,
) -> tuple[Tensor, Tensor]:
    """The sum of scale * row weight * loss over the rows, and its gradient, (B, L)."""
    answer = Call(name, options, KernelCells(logits, *cells), row_weight, scale).run(
        gradient=True, total=True
    )
    return answer.values.sum(), answer.gradient  # type: ignore[return-value, union-attr]


reduced = torch.library.custom_op(
    "tagwright::reduced",
    _reduced,
    mutates_args=(),
    schema=(
        f"(Tensor logits, {_LOSS}, Tensor? row_weight, float scale, {_CELLS}) -> (Tensor, Tensor)"
    ),
)


@reduced.register_fake
def _(logits: Tensor, *given: object) -> tuple[Tensor, Tensor]:
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


def _keep_gradient(ctx: _OfReduced, inputs: Inputs, output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(output[1])
    ctx.given = len(inputs) - 1


def _reduced_backward(ctx: _OfReduced, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    (gradient,) = ctx.saved_tensors
    return rescaled(gradient, upstream), *(None for _ in range(ctx.given))


reduced.register_autograd(_reduced_backward, setup_context=_keep_gradient)
