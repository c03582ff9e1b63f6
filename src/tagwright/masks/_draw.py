"""The Bernoulli draw of MaskLoss (eq. 3): with probability `plain_share`, the paper's alpha,
nothing is excused.
"""

import torch
from torch import Tensor

from tagwright.errors import SettingsError


def check_draw(plain_share: float, draw: str) -> None:
    """Refuse settings without a meaning."""
    if draw not in ("step", "example"):
        raise SettingsError(f"mask.draw must be step or example, got {draw!r}")
    if not 0 <= plain_share <= 1:
        raise SettingsError(f"mask.plain_share must lie in [0, 1], got {plain_share}")


def plain_rows(
    target: Tensor,
    generator: torch.Generator | None,
    *,
    plain_share: float,
    draw: str,
    of_step: Tensor | None = None,
) -> Tensor:
    """Which examples are learnt without a mask, bool (B, 1), or (1, 1) where the draw is made once
    for the step.

    `of_step` () is the step's own draw from 0 to 1, the same for all parts of its batch, in
    whatever process. Others are made on the device of `target` and never read by the host, so that
    a captured step draws anew.
    """
    if draw == "step" and of_step is not None:
        return (of_step < plain_share).view(1, 1)
    rows = target.shape[0] if draw == "example" else 1
    return torch.rand(rows, 1, generator=generator, device=target.device) < plain_share
