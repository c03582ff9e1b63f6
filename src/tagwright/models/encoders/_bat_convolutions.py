"""BAT's two convolutions, from the products of their taps on: relu(conv1(x)) + relu(conv3(x)), two
terms of eq. 4.

Autograd would fill a padded copy for each tap it moves; here a tap is added in its place.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tagwright.loss_math.context import Context


class _Taps(Context, Protocol):
    saved_tensors: tuple[Tensor, Tensor, Tensor | None]


class BATConvolutions(torch.autograd.Function):
    """Products (B, T, 4 x hidden) and tokens (B, T) -> (B, T, hidden).

    Products are conv1's, then conv3's taps for the token itself, the one before and the one after.
    A tap for the token after adds nothing where `tokens` says there is none; None says that all
    places are tokens.
    """

    @staticmethod
    def forward(ctx: _Taps, products: Tensor, tokens: Tensor | None) -> Tensor:
        """Of the token before, only the first place has none."""
        own, here, before, after = products.chunk(4, -1)
        near = here.clone()
        near[:, 1:] += before[:, :-1]
        near[:, :-1] += after[:, 1:] if tokens is None else after[:, 1:] * tokens[:, 1:, None]
        near.relu_()
        ctx.save_for_backward(own, near, tokens)
        return own.relu().add_(near)

    @staticmethod
    @once_differentiable
    def backward(ctx: _Taps, gradient: Tensor) -> tuple[Tensor, None]:
        """Each tap's gradient goes back to the token it was taken from."""
        own, near, tokens = ctx.saved_tensors
        result = gradient.new_empty(*gradient.shape[:-1], 4 * gradient.shape[-1])
        to_own, to_here, to_before, to_after = result.chunk(4, -1)
        torch.mul(gradient, own > 0, out=to_own)
        torch.mul(gradient, near > 0, out=to_here)
        to_before[:, :-1] = to_here[:, 1:]
        to_before[:, -1] = 0
        to_after[:, 1:] = (
            to_here[:, :-1] if tokens is None else to_here[:, :-1] * tokens[:, 1:, None]
        )
        to_after[:, 0] = 0
        return result, None
