"""The network: one encoder, named heads."""

import torch
from torch import nn

from tagwright.models.encoders import Encoder
from tagwright.models.heads import Head
from tagwright.models.hidden import Hidden
from tagwright.models.network import Network


class Doubling(Encoder):
    """Twice the input."""

    def forward(self, values, lengths):
        return Hidden(None, values * 2 + lengths[:, None])


class Pooled(Head):
    """The texts' vectors, as a made module gives them."""

    def __init__(self, made):
        super().__init__()
        self.made = made

    def forward(self, hidden):
        return self.made(hidden.pooled)


def test_every_head_sees_what_the_encoder_made_of_all_inputs():
    network = Network(Doubling(), {"main": Pooled(nn.Identity()), "other": Pooled(nn.Flatten(0))})
    found = network(torch.ones(2, 3), torch.tensor([1.0, 5.0]))
    assert found["main"].tolist() == [[3.0] * 3, [7.0] * 3]
    assert found["other"].tolist() == [3.0] * 3 + [7.0] * 3


def test_weights_are_named_after_their_head():
    names = set(Network(Doubling(), {"main": nn.Linear(2, 1)}).state_dict())
    assert names == {"heads.main.weight", "heads.main.bias"}
