"""warp: the pairwise hinge, weighed by rank."""

import torch

from tagwright.losses import ranking, warp


def test_label_on_top_weighs_one():
    logits, target = torch.tensor([[1.0, 0.5, -2.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    torch.testing.assert_close(warp(logits, target), ranking(logits, target))


def test_rank_is_a_constant_for_the_gradient():
    logits = torch.tensor([[0.0, 1.0, 2.0]], requires_grad=True)
    target = torch.tensor([[1.0, 0.0, 0.0]])
    warp(logits, target).sum().backward()
    assert logits.grad.tolist() == [[-6.0, 3.0, 3.0]]  # rank 3, two rivals


def test_equal_scores_share_the_better_rank():
    logits, target = torch.tensor([[1.0, 1.0]]), torch.tensor([[1.0, 0.0]])
    assert warp(logits, target).tolist() == [1.0]
