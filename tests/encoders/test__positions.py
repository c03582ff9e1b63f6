"""Positions made on the device of the states, though their maker names none."""

import torch
from torch import nn

from tagwright.encoders._positions import placed


class Careless(nn.Module):
    """Makes positions as some versions of MPNet do: on the host, and moves them."""

    def __init__(self):
        super().__init__()
        self.made_on = []

    def compute_position_bias(self, states, offset=0):
        positions = torch.arange(states.shape[1]) + offset
        self.made_on.append(positions.device.type)
        return positions.to(states.device)


def test_tensors_are_made_where_the_states_are():
    encoder = Careless()
    states = torch.zeros(2, 3, device="meta")
    encoder.compute_position_bias(states)
    placed(encoder)
    assert encoder.compute_position_bias(states, offset=1).device.type == "meta"
    assert encoder.made_on == ["cpu", "meta"]


def test_it_is_the_same_encoder_otherwise():
    encoder = Careless()
    placed(encoder)
    assert isinstance(encoder, Careless)
    assert encoder.compute_position_bias(torch.zeros(2, 3)).tolist() == [0, 1, 2]
