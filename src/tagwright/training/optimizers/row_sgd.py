"""Plain stochastic gradient descent with decay for sparse row gradients, which torch's own refuses
to combine.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from tagwright.errors import SettingsError


class RowSGD(torch.optim.Optimizer):
    """weight <- (1 - lr * weight_decay) * weight - lr * gradient.

    The gradient touches the batch's rows only; decay touches all of them, so it costs a pass over
    the weights a step. A vector (a bias) does not decay. There is no state.
    """

    def __init__(self, params: Iterable[Tensor], *, lr: float, weight_decay: float = 0.0) -> None:
        if lr < 0 or weight_decay < 0:
            raise SettingsError(
                f"row SGD wants lr >= 0 and weight_decay >= 0, got {lr} and {weight_decay}"
            )
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in (p for p in group["params"] if p.grad is not None):
                if group["weight_decay"] > 0 and weight.ndim > 1:
                    weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(weight.grad, alpha=-group["lr"])
        return loss
