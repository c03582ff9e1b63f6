"""Several optimizers behind one: each moves its own parameters, a checkpoint sees one state."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch


class Optimizer(Protocol):
    """What the loop and checkpoints ask of an optimizer."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Parameters and their settings; `lr` is set before every step."""

    def step(self) -> Any:
        """Move the parameters."""

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on, parameters by number."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up such a state."""


class JointOptimizer:
    """Optimizers side by side. Their states are numbered on, one after the other."""

    def __init__(self, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self.optimizers = tuple(optimizers)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of all, in order: those of the first come first."""
        return [group for one in self.optimizers for group in one.param_groups]

    def step(self) -> None:
        """One step of each."""
        for one in self.optimizers:
            one.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients."""
        for one in self.optimizers:
            one.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """One state of all, as if they were one optimizer."""
        result: dict[str, Any] = {"state": {}, "param_groups": []}
        first = 0
        for one in self.optimizers:
            own = one.state_dict()
            result["state"] |= {first + number: state for number, state in own["state"].items()}
            result["param_groups"] += [
                {**group, "params": [first + number for number in group["params"]]}
                for group in own["param_groups"]
            ]
            first += _count(one)
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Hand each its part."""
        groups, first = list(state_dict["param_groups"]), 0
        for one in self.optimizers:
            own, groups = groups[: len(one.param_groups)], groups[len(one.param_groups) :]
            last = first + _count(one)
            state = {
                n - first: state for n, state in state_dict["state"].items() if first <= n < last
            }
            moved = [
                {**group, "params": [number - first for number in group["params"]]} for group in own
            ]
            one.load_state_dict({"state": state, "param_groups": moved})
            first = last


def _count(optimizer: torch.optim.Optimizer) -> int:
    return sum(len(group["params"]) for group in optimizer.param_groups)
