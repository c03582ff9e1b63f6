"""Positions made on the device of the states, though their maker names none."""

import pytest
import torch
from torch import nn

from tagwright.models.encoders._positions import at, placed

from ...cloze_cases import encoder_of


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


def test_places_one_after_the_other_give_what_mpnet_gives():
    encoder = encoder_of("mpnet").model.encoder
    states = torch.zeros(2, 30, 16)
    expected = encoder.compute_position_bias(states)
    with at(encoder, torch.arange(30)):
        assert torch.equal(encoder.compute_position_bias(states), expected)


def test_given_places_count_by_their_distance_alone():
    encoder, places = encoder_of("mpnet").model.encoder, [0, 1, 2, 1, 2, 3, 9]
    row = encoder.compute_position_bias(torch.zeros(1, 30, 16))[0]
    with at(encoder, torch.tensor(places)):
        found = encoder.compute_position_bias(torch.zeros(3, 7, 16))
    assert found.shape == (3, 2, 7, 7)
    for looks, own in enumerate(places):
        for seen, other in enumerate(places):
            assert torch.equal(found[1, :, looks, seen], row[:, own, other])


def test_places_hold_inside_the_block_alone():
    encoder = encoder_of("mpnet").model.encoder
    with pytest.raises(ZeroDivisionError), at(encoder, torch.arange(3)):
        _ = 1 / 0
    assert encoder.compute_position_bias(torch.zeros(1, 5, 16)).shape[-1] == 5
