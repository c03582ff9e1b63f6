"""sigmoid_f1: one minus F1, with probabilities for counts."""

import torch

from tagwright.losses import sigmoid_f1


def test_certain_predictions_give_one_minus_the_f1_of_counts():
    logits = torch.tensor([[90.0], [90.0], [-90.0], [-90.0]])
    target = torch.tensor([[1.0], [0.0], [1.0], [0.0]])  # one hit, one false alarm, one miss
    torch.testing.assert_close(sigmoid_f1(logits, target), torch.tensor([0.5]))


def test_label_that_the_batch_lacks_costs_one_and_has_no_gradient():
    logits = torch.zeros(3, 1, requires_grad=True)
    value = sigmoid_f1(logits, torch.zeros(3, 1))
    value.sum().backward()
    assert value.tolist() == [1.0]
    assert (logits.grad == 0).all()
