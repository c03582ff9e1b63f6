"""A network that draws nothing, and one whose weights are given."""

import pytest
import torch
from torch import nn

from tagwright.training.regularizers._without_dropout import with_weights, without_dropout


def made():
    parts = [
        nn.Linear(4, 4),
        nn.Dropout(0.5),
        nn.LSTM(4, 3, num_layers=2, dropout=0.5),
        nn.Dropout(0.3),
    ]
    network = nn.ModuleList(parts).train()
    network[3].eval()  # as frozen layers are
    return network


def test_nothing_is_drawn_inside_and_all_is_as_it_was_behind():
    network = made()
    with without_dropout(network):
        assert not network[1].training
        assert network[2].training  # cuDNN would refuse a gradient
        values = torch.rand(5, 4)
        assert torch.equal(network[2](values)[0], network[2](values)[0])
        assert torch.equal(network[1](values), values)
    assert [part.training for part in network] == [True, True, True, False]
    assert network.training
    assert network[2].dropout == 0.5


def test_a_failure_inside_leaves_the_network_as_it_was():
    network = made()
    with pytest.raises(ValueError, match="inside"), with_weights(network), without_dropout(network):
        raise ValueError("inside")
    assert [part.training for part in network] == [True, True, True, False]
    assert network[2].dropout == 0.5
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_held_weights_get_no_gradient_and_frozen_ones_stay_frozen():
    network = made()
    network[0].bias.requires_grad_(False)
    values = torch.rand(5, 4, requires_grad=True)
    before = network[0](values).sum()
    with with_weights(network):
        assert not any(parameter.requires_grad for parameter in network.parameters())
        torch.autograd.grad(network[0](values).sum(), values)
    assert [parameter.requires_grad for parameter in network[0].parameters()] == [True, False]
    before.backward()  # what was begun before goes on
    assert network[0].weight.grad is not None
