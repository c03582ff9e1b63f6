"""Adagrad with one number of state a label, for a label matrix (L, D) so large that a second one
would not fit.

A label that is seen often is slowed, a rare one is not; one step size a row is all that is kept.
Rows are updated in slices, and bfloat16 weights in float32 there, then rounded at random: up or
down with the chance that keeps the mean, for a small step would be lost whenever the nearest number
is the old one.
"""

from collections.abc import Callable, Iterable
from typing import cast

import torch
from torch import Tensor

from tagwright.errors import SettingsError
from tagwright.randomness import seed_of
from tagwright.training.optimizers.joint import OptimizerState

# weights a slice: it stays in the cache of a core; a GPU wants large launches
_BLOCK = {"cpu": 2**18}
_BLOCK_ELSEWHERE = 2**24


class LabelAdagrad(torch.optim.Optimizer):
    """weight[row] -= lr * gradient / sqrt(floor² + sum of squares), the sum over the row and all
    steps so far.

    Takes dense gradients of (L, D) weights and of (L,) biases. `floor` is the gradient that counts
    as large: below it a step is proportional to the gradient, so that the many labels that no text
    of a batch has do not run away. What a step draws is a function of (seed, step), and
    `state_dict` holds the step.
    """

    def __init__(
        self, params: Iterable[Tensor], *, lr: float = 0.3, floor: float = 1 / 32, seed: int = 0
    ) -> None:
        if lr < 0 or floor <= 0:
            raise SettingsError(f"label Adagrad wants lr >= 0 and floor > 0, got {lr} and {floor}")
        super().__init__(params, {"lr": lr, "floor": floor, "seed": seed, "step": 0})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            group["step"] += 1
            for number, weight in enumerate(group["params"]):
                if weight.grad is not None:
                    seed = seed_of(group["seed"], f"rounding {number}", group["step"])
                    draw = torch.Generator(weight.device).manual_seed(seed)
                    _update(
                        _rows(weight),
                        _rows(weight.grad),
                        self._squares(weight, group["floor"]),
                        group["lr"],
                        draw,
                    )
        return loss

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Take up a state. Torch would cast the sums to the weights' dtype, and a resumed run would
        round them.
        """
        super().load_state_dict(state_dict)
        kept = cast(OptimizerState, state_dict)["state"]
        for number, weight in enumerate(p for group in self.param_groups for p in group["params"]):
            if number in kept:
                squares = cast(Tensor, kept[number]["squares"])
                self.state[weight]["squares"] = squares.to(weight.device, copy=True)

    def _squares(self, weight: Tensor, floor: float) -> Tensor:
        state = self.state[weight]
        if "squares" not in state:
            state["squares"] = torch.full(
                (len(weight), 1), floor**2, dtype=torch.float32, device=weight.device
            )
        squares: Tensor = state["squares"]
        return squares


def _rows(tensor: Tensor) -> Tensor:
    return tensor.detach().view(len(tensor), -1)


def _update(
    weight: Tensor, gradient: Tensor, squares: Tensor, lr: float, draw: torch.Generator
) -> None:
    size = max(1, _BLOCK.get(weight.device.type, _BLOCK_ELSEWHERE) // weight.shape[1])
    for start in range(0, len(weight), size):
        rows = slice(start, start + size)
        values = gradient[rows].float()
        total = squares[rows].add_(values.square().sum(1, keepdim=True)).sqrt()
        if weight.dtype == torch.bfloat16:
            fresh = weight[rows].float().addcdiv_(values, total, value=-lr)
            weight[rows] = rounded_at_random(fresh, draw)
        else:
            weight[rows].addcdiv_(values, total, value=-lr)


def rounded_at_random(values: Tensor, generator: torch.Generator) -> Tensor:
    """float32 -> bfloat16, to one of both neighbors: the nearer, the likelier; on average nothing
    is lost.

    >>> draw = torch.Generator().manual_seed(0)
    >>> between = torch.full((10_000,), 1 + 1 / 512)  # a quarter of the way from 1 to 1 + 1/128
    >>> round(rounded_at_random(between, draw).float().mean().item(), 3)
    1.002
    """
    bits = values.contiguous().view(torch.int32)
    noise = torch.randint(
        0, 1 << 16, bits.shape, dtype=torch.int32, device=bits.device, generator=generator
    )
    # what stays below the 16 bits that bfloat16 keeps is carried over them as often as it is large
    return bits.add(noise).bitwise_and_(-(1 << 16)).view(torch.float32).bfloat16()
