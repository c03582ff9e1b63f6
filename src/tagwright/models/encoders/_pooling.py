"""One vector of a text from the states of its tokens."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from tagwright.errors import SettingsError, unknown

POOLINGS = ("mean", "cls", "max", "attention")


class Pooling(nn.Module):
    """States (B, T, D) and which of them are inside the text (B, T) -> (B, D).

    `cls` takes the first state; `attention` a mean whose weights are learnt, from equal ones on.
    """

    def __init__(self, width: int, how: Literal["mean", "cls", "max", "attention"]) -> None:
        super().__init__()
        if how not in POOLINGS:
            raise SettingsError(unknown("pooling", how, POOLINGS))
        self.how = how
        self.query = nn.Parameter(torch.zeros(width)) if how == "attention" else None

    def forward(self, states: Tensor, inside: Tensor) -> Tensor:
        """At least one state must be inside."""
        if self.how == "cls":
            return states[:, 0]
        if self.how == "max":
            return states.masked_fill(~inside[..., None], -math.inf).amax(1)
        if self.query is not None:
            scores = (states @ self.query).masked_fill(~inside, -math.inf)
            weights = scores.softmax(1)
        else:
            weights = inside / inside.sum(1, keepdim=True)
        return (weights[:, None].to(states.dtype) @ states)[:, 0]
