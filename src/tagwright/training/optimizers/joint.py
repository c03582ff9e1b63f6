"""Several optimizers behind one: each moves its own parameters, a checkpoint sees one state."""

from collections.abc import Sequence
from typing import Protocol, TypedDict, cast

import torch


class GroupState(TypedDict):
    """A group of parameters by their numbers; its settings stand beside them."""

    params: list[int]


class OptimizerState(TypedDict):
    """What torch calls a `state_dict`: what is kept of each parameter by number, and the groups."""

    state: dict[int, dict[str, object]]
    param_groups: list[GroupState]


class Optimizer(Protocol):
    """What the loop and checkpoints ask of an optimizer."""

    @property
    def param_groups(self) -> list[dict[str, object]]:
        """Parameters and their settings; `lr` is set before every step."""

    def step(self) -> object:
        """Move the parameters."""

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""

    def state_dict(self) -> dict[str, object]:
        """All that the next step depends on, parameters by number."""

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Take up such a state."""


class JointOptimizer:
    """Optimizers side by side. Their states are numbered on, one after the other."""

    def __init__(self, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self.optimizers = tuple(optimizers)

    @property
    def param_groups(self) -> list[dict[str, object]]:
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

    def state_dict(self) -> dict[str, object]:
        """One state of all, as if they were one optimizer."""
        states: dict[int, object] = {}
        groups: list[dict[str, object]] = []
        first = 0
        for one in self.optimizers:
            own = one.state_dict()
            states |= {first + number: state for number, state in own["state"].items()}
            groups += [
                {**group, "params": [first + number for number in group["params"]]}
                for group in own["param_groups"]
            ]
            first += _count(one)
        return {"state": states, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Hand each its part."""
        whole = cast(OptimizerState, state_dict)
        groups, first = list(whole["param_groups"]), 0
        for one in self.optimizers:
            own, groups = groups[: len(one.param_groups)], groups[len(one.param_groups) :]
            last = first + _count(one)
            state = {n - first: state for n, state in whole["state"].items() if first <= n < last}
            moved = [
                {**group, "params": [number - first for number in group["params"]]} for group in own
            ]
            one.load_state_dict({"state": state, "param_groups": moved})
            first = last


def _count(optimizer: torch.optim.Optimizer) -> int:
    return sum(len(group["params"]) for group in optimizer.param_groups)
