"""dice: bounded, and 0 where the label is right."""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.losses import DiceLoss, dice


def test_cost_of_a_label_lies_between_nothing_and_a_half():
    logits = torch.linspace(-100, 100, 41)[:, None]
    for gold in (0.0, 1.0):
        values = dice(logits, torch.full_like(logits, gold))
        assert values.min() >= 0
        assert values.max() <= 0.5


def test_smooth_of_zero_is_refused():
    with pytest.raises(SettingsError, match="smooth must be above 0, got 0"):
        DiceLoss(smooth=0.0)
