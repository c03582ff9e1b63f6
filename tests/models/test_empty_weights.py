"""Networks are made no larger than their weights."""

import pytest
import torch
from torch import nn

from tagwright.errors import ModelError
from tagwright.models import empty_weights
from tagwright.models.empty_weights import EmptyWeights


@pytest.fixture(autouse=True)
def _nothing_is_free(monkeypatch):
    monkeypatch.setattr(empty_weights, "FREE_CELLS", 0)
    monkeypatch.setattr(empty_weights, "FREE_CALLS", 0)


MAKERS = {
    "number by number": lambda: torch.empty(3, 4),
    "sequence": lambda: torch.zeros((3, 4)),
    "by name": lambda: torch.ones(size=(3, 4)),
    "size after a value": lambda: torch.randint(0, 5, (3, 4)),
    "size before a value": lambda: torch.full((3, 4), 1.0),
    "drawn": lambda: torch.randn(torch.Size([3, 4])),
    "line": lambda: torch.arange(12),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_weights_have_room_for_is_made_and_one_number_more_is_not(make, monkeypatch):
    monkeypatch.setattr(empty_weights, "CELLS", 1)
    with EmptyWeights([(6, 2)]):
        assert make().numel() == 12
    with pytest.raises(ModelError, match="than the weights have"), EmptyWeights([(11,)]):
        make()


def test_room_is_there_once():
    with pytest.raises(ModelError), EmptyWeights([(3, 4)]):
        [torch.empty(3, 4) for _ in range(empty_weights.CELLS + 1)]


def test_what_no_computer_has_memory_for_is_refused_before_it_is_made():
    with pytest.raises(ModelError), EmptyWeights([(3, 4)]):
        nn.Embedding(10**12, 10**3)


def test_layers_without_end_come_to_one():
    with pytest.raises(ModelError), EmptyWeights([(1, 1)] * 4):
        nn.ModuleList(nn.Linear(1, 1) for _ in range(10**9))


def test_a_number_has_room():
    with EmptyWeights([(1,)]):
        assert torch.zeros(()).item() == 0


def test_weights_are_not_drawn_where_torch_says_that_they_are():
    with EmptyWeights([(64, 64)]):
        layer = nn.Linear(8, 8, bias=False)
    assert layer.weight.requires_grad
    assert not layer.weight.any()


def test_a_truncated_draw_ends():
    """It draws again until all numbers lie in its range, which zeros would never do."""
    with EmptyWeights([(64, 64)]):
        drawn = nn.init.trunc_normal_(torch.empty(5), mean=1.0, std=0.1, a=0.9, b=1.1)
    assert ((drawn > 0.8) & (drawn < 1.2)).all()


def test_outside_of_the_block_nothing_is_counted():
    with EmptyWeights([(1,)]):
        pass
    assert torch.empty(10**4).numel() == 10**4
