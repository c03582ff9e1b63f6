"""What every encoder gives to the heads."""

from typing import NamedTuple

from torch import Tensor


class Hidden(NamedTuple):
    """One vector a text, and one a token where the encoder has them."""

    states: Tensor | None  # (B, T, D)
    pooled: Tensor  # (B, D)
