"""Linear layers that multiply in bfloat16 on a GPU, with fewer kernels than autocast and float32
gradients of weights.

Small batches are a matter of how many kernels run: autocast casts every weight, and every gradient
back, on its own, and sums the bias's gradient in a reduction that takes longer than the products
beside it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from tagwright.loss_math.context import Context


class HalfLinear(nn.Linear):
    """A linear layer that multiplies by `copies` of its weight and bias where it has them."""

    copies: tuple[Tensor, Tensor | None] | None = None

    def forward(self, states: Tensor) -> Tensor:
        """States (…, D) -> (…, E), of bfloat16 where there are copies."""
        if self.copies is None:
            return super().forward(states)
        result: Tensor = _Product.apply(
            states, self.weight, self.bias, _halved(states), *self.copies
        )
        return result


def _halved(states: Tensor) -> Tensor:
    """States (…, D) as rows (N, D) of bfloat16. Query, key and value ask for the same: the first
    leaves it for them.
    """
    flat = states.detach().reshape(-1, states.shape[-1])
    if states.dtype == torch.bfloat16 or states.is_inference():
        return flat.to(torch.bfloat16)
    version, half = getattr(states, "_half", (None, flat))
    if version != states._version:
        half = flat.to(torch.bfloat16)
        states._half = states._version, half  # type: ignore[attr-defined]
    return half


class _Halves(Context, Protocol):
    shape: torch.Size
    dtype: torch.dtype
    saved_tensors: tuple[Tensor, Tensor]


class _Product(torch.autograd.Function):
    """states @ weight.T + bias by their bfloat16 copies; gradients leave the products in the type
    that is wanted.
    """

    @staticmethod
    def forward(
        ctx: _Halves,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        flat: Tensor,
        half: Tensor,
        half_bias: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(flat, half)
        ctx.shape, ctx.dtype = states.shape, states.dtype
        return nn.functional.linear(flat, half, half_bias).view(*states.shape[:-1], len(half))

    @staticmethod
    @once_differentiable
    def backward(ctx: _Halves, upstream: Tensor) -> tuple[Tensor | None, ...]:
        flat, half = ctx.saved_tensors
        upstream = upstream.reshape(len(flat), len(half))
        of_states = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_states = _product(upstream, half, ctx.dtype).view(ctx.shape)
        if ctx.needs_input_grad[1]:
            of_weight = _product(upstream.t(), flat, torch.float32)
        # a product, for the sum over a few hundred rows is slow as a reduction
        if ctx.needs_input_grad[2]:
            of_bias = _product(upstream.new_ones(1, len(upstream)), upstream, torch.float32)[0]
        return of_states, of_weight, of_bias, None, None, None


def _product(left: Tensor, right: Tensor, dtype: torch.dtype) -> Tensor:
    if left.is_cuda and dtype != left.dtype:
        return torch.mm(left, right, out_dtype=dtype)
    return (left @ right).to(dtype)


def take_over(model: nn.Module) -> None:
    """Make the model's linear layers such that `halved` can serve them; alone this changes
    nothing.
    """
    for part in model.modules():
        if type(part) is nn.Linear:
            part.__class__ = HalfLinear


@contextmanager
def halved(model: nn.Module) -> Iterator[None]:
    """Linear layers multiply in bfloat16 inside the block, by copies of their weights that are made
    all at once.
    """
    layers = [part for part in model.modules() if isinstance(part, HalfLinear)]
    weights = [
        weight for layer in layers for weight in (layer.weight, layer.bias) if weight is not None
    ]
    halves = [
        torch.empty_like(weight, dtype=torch.bfloat16, requires_grad=False) for weight in weights
    ]
    with torch.no_grad():
        torch._foreach_copy_(halves, weights)
    given = iter(halves)
    for layer in layers:
        layer.copies = (next(given), None if layer.bias is None else next(given))
    try:
        yield
    finally:
        for layer in layers:
            layer.copies = None
