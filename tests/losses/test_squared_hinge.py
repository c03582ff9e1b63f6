"""squared_hinge: nothing beyond the margin, and its square before."""

import torch

from tagwright.losses import squared_hinge


def test_label_beyond_the_margin_costs_nothing_and_has_no_gradient():
    logits = torch.tensor([[1.5, -1.5]], requires_grad=True)
    value = squared_hinge(logits, torch.tensor([[1.0, 0.0]]))
    value.sum().backward()
    assert value.tolist() == [0.0]
    assert logits.grad.tolist() == [[0.0, 0.0]]


def test_margin_moves_where_the_cost_begins():
    logits, target = torch.tensor([[1.5, -1.5]]), torch.tensor([[1.0, 0.0]])
    torch.testing.assert_close(squared_hinge(logits, target, margin=2.0), torch.tensor([0.5]))
