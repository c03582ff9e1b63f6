"""Bernoulli group mask of MaskLoss (eq. 3): labels that share a group with a gold label are not pushed down."""

import numpy as np
import torch
from torch import Tensor

from tagwright.errors import SettingsError


class GroupMask:
    """Excuses every non-gold label that shares a group with a gold one.

    `group_ids` (L,), -1 for a label without a group. With probability `plain_share` (the paper's alpha) nothing is
    excused; the draw is made once a step, or for each example with `draw="example"`.
    """

    def __init__(self, group_ids: np.ndarray, *, plain_share: float = 0.5, draw: str = "step") -> None:
        if draw not in ("step", "example"):
            raise SettingsError(f"mask.draw must be step or example, got {draw!r}")
        if not 0 <= plain_share <= 1:
            raise SettingsError(f"mask.plain_share must lie in [0, 1], got {plain_share}")
        alike = (group_ids[:, None] == group_ids[None, :]) & (group_ids >= 0)
        self.alike = torch.as_tensor(alike, dtype=torch.float32)  # (L, L)
        self.plain_share, self.draw = plain_share, draw

    def __call__(self, target: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Target (B, L) -> mask (B, L), True where a term takes part. A gold label always does."""
        gold = (target > 0).to(torch.float32)
        excused = (gold @ self.alike.to(target.device) > 0) & (gold == 0)
        rows = target.shape[0] if self.draw == "example" else 1
        plain = torch.rand(rows, 1, generator=generator, device=target.device) < self.plain_share
        return ~excused | plain


PART = GroupMask
