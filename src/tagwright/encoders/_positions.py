"""Positions that are made where they are needed: some versions of MPNet make them on the host, and a GPU waits."""

from typing import Any

from torch import Tensor, nn


def placed(encoder: nn.Module) -> None:
    """Let an encoder's `compute_position_bias` make its tensors on the device of the states."""
    whole: Any = type(encoder)

    class Placed(whole):
        def compute_position_bias(self, states: Tensor, *given: Any, **more: Any) -> Tensor:
            with states.device:
                result: Tensor = super().compute_position_bias(states, *given, **more)
                return result

    encoder.__class__ = Placed
