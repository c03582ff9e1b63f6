"""The kernels as autograd sees them: the values of rows, and their sum.

The values read the logits again in the backward pass; the sum has made its gradient by then.
Neither gradient has a graph: where one is asked for (`create_graph=True`), the backward pass
differentiates the loss's plain form.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import NamedTuple, Protocol, cast

import torch
from torch import Tensor

from tagwright.errors import TagwrightError
from tagwright.kernels import NAMES
from tagwright.kernels._entry import KernelCells, KernelOutput, SoftmaxKernel, Work
from tagwright.kernels._launch import launch
from tagwright.kernels._rescale import rescale_cells
from tagwright.loss_math.context import Context
from tagwright.loss_math.fused import Plain, with_graph
from tagwright.loss_math.sparse import SparseMask, SparseTarget

ENTRIES = {name: import_module(f"tagwright.kernels.{name}").PART for name in NAMES}
SMALL = 2**20  # cells that PyTorch multiplies before a kernel of ours has begun


class Call(NamedTuple):
    """A loss and all it is called with; what autograd hands from the forward to the backward
    pass.
    """

    name: str
    options: list[float]
    cells: KernelCells
    row_weight: Tensor | None = None
    scale: float = 1.0

    def run(
        self,
        *,
        values: bool = True,
        gradient: bool = False,
        total: bool = False,
        upstream: Tensor | None = None,
        logs: Tensor | None = None,
    ) -> KernelOutput:
        """Launch. With `total` only the sum of the values has a meaning. `logs` are needed for a
        gradient alone.
        """
        entry, logits = ENTRIES[self.name], self.cells.logits
        count = (
            entry.programs(*logits.shape)
            if total and isinstance(entry, SoftmaxKernel)
            else logits.shape[0]
        )
        if values and not gradient and entry.logs:
            logs = logits.new_empty((2, count), dtype=torch.float32)
        answer = KernelOutput(
            logits.new_empty(count, dtype=torch.float32) if values else None,
            logs,
            torch.empty_like(logits, memory_format=torch.contiguous_format) if gradient else None,
        )
        self.launch(self.row_weight if upstream is None else upstream, answer)
        return answer

    def launch(
        self, upstream: Tensor | None, answer: KernelOutput, *, origin: int = 0, add: bool = False
    ) -> None:
        """Fill the answer, or `add` to it; the first of the labels is `origin`."""
        with _device_of(self.cells.logits):
            ENTRIES[self.name].launch(
                Work(self.cells, self.options, upstream, self.scale, answer, origin, add)
            )


def call_of(
    name: str,
    logits: Tensor,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    weights: Mapping[str, Tensor | None],
    options: Mapping[str, object],
    row_weight: Tensor | None = None,
    scale: float = 1.0,
) -> Call:
    """A loss's own arguments, as the kernels take them."""
    listed = target if isinstance(target, SparseTarget) else SparseTarget(None, None)  # type: ignore[arg-type]
    off = mask if isinstance(mask, SparseMask) else SparseMask(None, None)  # type: ignore[arg-type]
    cells = KernelCells(
        _in_rows(logits.detach()),
        _in_rows(target) if isinstance(target, Tensor) else None,
        listed.ids,
        listed.offsets,
        listed.values,
        float(listed.background),
        _in_rows(mask) if isinstance(mask, Tensor) else None,
        off.ids,
        off.offsets,
        weights["positive_weight"],
        weights["negative_weight"],
    )
    numbers = cast(Mapping[str, float], options)  # `serves` lets nothing else through
    return Call(
        name, [float(numbers[option]) for option in ENTRIES[name].options], cells, row_weight, scale
    )


def _in_rows(tensor: Tensor) -> Tensor:
    return tensor if tensor.stride(1) == 1 else tensor.contiguous()


def _device_of(tensor: Tensor) -> AbstractContextManager[object]:
    """A launch goes to the current device: make it the tensor's, if it is another."""
    if tensor.is_cuda and tensor.get_device() != torch.cuda.current_device():
        return torch.cuda.device_of(tensor)
    return nullcontext()


class _Calling(Context, Protocol):
    call: Call
    plain: Plain
    saved_tensors: tuple[Tensor, Tensor | None]


class Values(torch.autograd.Function):
    """Logits and their call -> the loss of every row, (B,)."""

    @staticmethod
    def forward(ctx: _Calling, logits: Tensor, call: Call, plain: Plain) -> Tensor:
        answer = call.run()
        ctx.save_for_backward(logits, answer.logs)
        ctx.call, ctx.plain = call, plain
        return answer.values  # type: ignore[return-value]

    @staticmethod
    def backward(ctx: _Calling, upstream: Tensor) -> tuple[Tensor | None, None, None]:
        logits, logs = ctx.saved_tensors
        if torch.is_grad_enabled():
            return with_graph(ctx.plain, (logits,), upstream)[0], None, None
        answer = ctx.call.run(
            values=False, gradient=True, upstream=upstream.contiguous(), logs=logs
        )
        return answer.gradient, None, None


class _Reducing(Context, Protocol):
    gradient: Tensor | None
    plain: Plain
    saved_tensors: tuple[Tensor]


class Reduced(torch.autograd.Function):
    """Logits and their call -> the sum of scale * row weight * loss over the rows."""

    @staticmethod
    def forward(ctx: _Reducing, logits: Tensor, call: Call, plain: Plain) -> Tensor:
        values, _, gradient = call.run(gradient=True, total=True)
        ctx.save_for_backward(logits)
        ctx.gradient, ctx.plain = gradient, plain
        return values.sum()  # type: ignore[union-attr]

    @staticmethod
    def backward(ctx: _Reducing, upstream: Tensor) -> tuple[Tensor | None, None, None]:
        if torch.is_grad_enabled():
            return with_graph(ctx.plain, ctx.saved_tensors, upstream)[0], None, None
        gradient, ctx.gradient = ctx.gradient, None
        if gradient is None:
            raise TagwrightError(
                "this loss made its gradient with its value and has handed it out; for a second"
                ' backward pass take reduction="none" and reduce by yourself'
            )
        rescale(gradient, upstream)
        return gradient, None, None


def rescale(gradient: Tensor, upstream: Tensor) -> None:
    """gradient *= upstream, without asking the device what upstream is."""
    count = gradient.numel()
    if count <= SMALL:
        gradient.mul_(upstream)
        return
    with _device_of(gradient):
        launch(
            rescale_cells,
            min(1024, -(-count // 4096)),
            (gradient, upstream, count),
            {"BLOCK": 4096},
            8,
        )
