"""lsep and bpmll: their two sums may lie far apart, and only the product counts."""

import pytest
import torch

from tagwright.losses import bpmll, lsep


@pytest.mark.parametrize("function", [lsep, bpmll])
@pytest.mark.parametrize("height", [0.0, 50.0, 90.0, -90.0, 1e4, -1e4])
def test_height_of_all_scores_has_no_say(function, height: float):
    logits = torch.tensor([[1.0, -2.0, 0.5], [3.0, 3.5, -1.0]])
    target = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    moved, level = ((logits + shift).requires_grad_() for shift in (height, 0.0))
    found, expected = function(moved, target), function(level, target)
    tolerance = 1e-5 + 1e-7 * abs(height)  # of the scores themselves
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    found.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(moved.grad, level.grad, rtol=10 * tolerance, atol=tolerance)


@pytest.mark.parametrize("function", [lsep, bpmll])
def test_row_without_a_pair_is_zero_beside_rows_with_one(function):
    logits = torch.tensor([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], requires_grad=True)
    target = torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    values = function(logits, target)
    values.sum().backward()
    assert values[:2].tolist() == [0, 0]
    assert values[2] > 0
    assert logits.grad[:2].tolist() == [[0, 0], [0, 0]]
