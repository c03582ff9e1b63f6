"""ranking: a hinge a pair, and nothing beyond the margin."""

import torch

from tagwright.losses import ranking


def test_pair_beyond_the_margin_has_no_cost_and_no_gradient():
    logits = torch.tensor([[3.0, 1.0, 2.5]], requires_grad=True)
    value = ranking(logits, torch.tensor([[1.0, 0.0, 0.0]]))
    value.sum().backward()
    assert value.tolist() == [0.5]
    assert logits.grad.tolist() == [[-1.0, 0.0, 1.0]]


def test_pair_at_the_margin_costs_nothing():
    assert ranking(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]])).tolist() == [0.0]
