"""What stands before the mathematics: targets that are taken for hard are exactly 0 and 1."""

import pytest
import torch

from tagwright.errors import ShapeError
from tagwright.loss_math.check import is_hard
from tagwright.losses import focal, ranking


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str
)
def test_one_soft_cell_among_very_many_is_found(dtype: torch.dtype):
    target = torch.ones(5_000_000, dtype=dtype)
    assert is_hard(target)
    target[7] = 0.5
    assert not is_hard(target)
    assert not is_hard(torch.tensor([1e-7, 1.0], dtype=dtype))
    assert is_hard(torch.zeros(0, dtype=dtype))


def test_soft_cell_is_refused_by_a_hard_loss_and_mixed_by_a_soft_one():
    logits, target = torch.zeros(1, 2), torch.tensor([[1.0, 1e-4]])
    with pytest.raises(ShapeError, match="0 and 1 only"):
        ranking(logits, target)
    moved = logits.clone().requires_grad_()
    torch.testing.assert_close(focal(moved, target).detach(), focal(logits, target))
