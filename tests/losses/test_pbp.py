"""pbp: a penalty for the label that was predicted wrongly."""

import torch

from tagwright.losses import cross_entropy, pbp


def test_right_prediction_costs_cross_entropy_and_a_wrong_one_more():
    logits = torch.tensor([[2.0, 0.0, 1.0]])
    right, wrong = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[0.0, 1.0, 0.0]])
    torch.testing.assert_close(pbp(logits, right), cross_entropy(logits, right))
    assert pbp(logits, wrong) > cross_entropy(logits, wrong)


def test_first_of_equal_scores_is_the_predicted_one():
    logits = torch.zeros(1, 2)
    first, second = (pbp(logits, torch.eye(2)[i : i + 1]).item() for i in range(2))
    assert first < second  # the second label's text was given the first
