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
        self.group_ids = torch.as_tensor(group_ids, dtype=torch.int64)
        self.group_count = int(np.max(group_ids, initial=-1)) + 1
        self.plain_share, self.draw = plain_share, draw

    def __call__(self, target: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Target (B, L) -> mask (B, L), True where a term takes part. A gold label always does."""
        ids = self.group_ids = self.group_ids.to(target.device)  # moved once
        gold = target > 0
        # one more column for labels without a group, of which none excuses another
        held = target.new_zeros(len(target), self.group_count + 1)
        held = held.index_add(1, torch.where(ids < 0, self.group_count, ids), gold.to(target.dtype))
        excused = (held[:, ids] > 0) & (ids >= 0) & ~gold
        rows = target.shape[0] if self.draw == "example" else 1
        plain = torch.rand(rows, 1, generator=generator, device=target.device) < self.plain_share
        return ~excused | plain


PART = GroupMask
