"""batch_dice: counts of a whole batch."""

import torch

from tagwright.losses import batch_dice, dice


def test_batch_of_one_is_dice():
    logits, target = (
        torch.tensor([[1.2, -0.7, 0.3]]).double(),
        torch.tensor([[1.0, 0.0, 0.0]]).double(),
    )
    torch.testing.assert_close(batch_dice(logits, target).sum(), dice(logits, target).sum())


def test_parts_do_not_add_up_to_the_whole():
    logits, target = torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    parts = sum(batch_dice(logits[i : i + 1], target[i : i + 1]) for i in range(2))
    assert abs(parts - batch_dice(logits, target)).item() > 0.01
