"""Adagrad (jmlr.org/papers/v12/duchi11a.html) with one step size a row, for sparse row gradients.

A feature that is seen often is slowed, a rare one is not. All labels of a feature share its pace,
so that a label with tiny gradients does not get the same step as one with large ones, as it would
with one step size a weight.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from tagwright.errors import SettingsError, ShapeError

# weights a block: gather, update and scatter stay in the cache; whole gradients ran 3.5 times
# slower
_BLOCK = 2**18


class RowAdagrad(torch.optim.Optimizer):
    """weight[row] -= lr * gradient / sqrt(floor² + sum of squares), the sum over the row's labels
    and all steps so far.

    Takes sparse gradients of (d, L) weights and touches only their rows; a dense gradient (a bias)
    gets one step size a weight. `floor` is the gradient that counts as large: below it a step is
    proportional to the gradient, as in SGD, so that the first sight of a feature does not throw its
    weights; 1 / B where the loss is a mean over B texts. A step draws nothing at random, and
    `state_dict` holds all it needs.
    """

    def __init__(
        self, params: Iterable[Tensor], *, lr: float = 3.0, floor: float = 1 / 256
    ) -> None:
        if lr < 0 or floor <= 0:
            raise SettingsError(f"row Adagrad wants lr >= 0 and floor > 0, got {lr} and {floor}")
        super().__init__(params, {"lr": lr, "floor": floor})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in (p for p in group["params"] if p.grad is not None):
                squares = self._squares(weight, group["floor"])
                update = _update_rows if weight.grad.is_sparse else _update_all
                update(weight, weight.grad, squares, group["lr"])
        return loss

    def _squares(self, weight: Tensor, floor: float) -> Tensor:
        """The running sum, (d, 1) for sparse gradients and the weight's own shape for dense
        ones.
        """
        state = self.state[weight]
        if "squares" not in state:
            shape = (len(weight), 1) if weight.grad.is_sparse else weight.shape  # type: ignore[union-attr]
            state["squares"] = torch.full(shape, floor**2, dtype=weight.dtype, device=weight.device)
        squares: Tensor = state["squares"]
        return squares


def _update_rows(weight: Tensor, gradient: Tensor, squares: Tensor, lr: float) -> None:
    if weight.ndim != 2:
        raise ShapeError(
            f"row Adagrad wants sparse gradients of (d, L) weights only, got {tuple(weight.shape)}"
        )
    indices, gradients = _distinct_rows(gradient)
    size = max(1, _BLOCK // max(1, weight.shape[1]))
    for rows, values in zip(indices.split(size), gradients.split(size)):
        total = squares.index_select(0, rows).add_(values.square().sum(dim=1, keepdim=True))
        squares.index_copy_(0, rows, total)
        weight.index_copy_(
            0, rows, weight.index_select(0, rows).addcdiv_(values, total.sqrt_(), value=-lr)
        )


def _distinct_rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Row numbers (C,), ascending, and their gradients (C, L).

    Autograd drops the mark that a gradient is coalesced; looking at the rows costs far less than
    coalescing it again.
    """
    if not bool((gradient._indices()[0].diff() > 0).all()):
        gradient = gradient.coalesce()
    return gradient._indices()[0], gradient._values()


def _update_all(weight: Tensor, gradient: Tensor, squares: Tensor, lr: float) -> None:
    squares.addcmul_(gradient, gradient)
    weight.addcdiv_(gradient, squares.sqrt(), value=-lr)
