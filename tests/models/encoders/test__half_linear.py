"""Linear layers in bfloat16: the products of autocast, with gradients of weights that are not
rounded.
"""

import copy

import pytest
import torch
from torch import nn

from tagwright.models.encoders._half_linear import HalfLinear, _halved, halved, take_over


def model(bias=True):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 20, bias=bias), nn.GELU(), nn.Linear(20, 7, bias=bias))


def gradients(network, states):
    network.zero_grad()
    given = states.clone().requires_grad_()
    values = network(given)
    (values.float() ** 2).sum().backward()
    return values, [given.grad, *(p.grad for p in network.parameters())]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(5, 12), (3, 4, 12), (1, 1, 12)])
def test_values_and_gradients_are_those_of_autocast(shape, bias):
    plain, own = model(bias), model(bias)
    take_over(own)
    states = torch.randn(shape)
    with torch.autocast("cpu", torch.bfloat16):
        expected = gradients(plain, states)
        with halved(own):
            found = gradients(own, states)
    assert found[0].dtype == torch.bfloat16
    assert torch.equal(found[0], expected[0])
    for mine, other in zip(found[1], expected[1]):
        assert mine.dtype == torch.float32
        torch.testing.assert_close(mine, other, rtol=3e-2, atol=3e-2 * other.abs().max().item())


def test_outside_the_block_nothing_is_different():
    plain, own = model(), model()
    take_over(own)
    states = torch.randn(5, 12)
    with halved(own):
        own(states)
    expected, found = gradients(plain, states), gradients(own, states)
    assert torch.equal(found[0], expected[0])
    assert all(torch.equal(mine, other) for mine, other in zip(found[1], expected[1]))


def test_copies_follow_the_weights_and_are_let_go():
    own = model()
    take_over(own)
    states = torch.randn(5, 12)
    with torch.no_grad(), halved(own):
        before = own(states)
    with torch.no_grad():
        own[0].weight.mul_(2)
        with halved(own):
            assert not torch.equal(own(states), before)
    assert own[0].copies is None
    assert own.state_dict().keys() == model().state_dict().keys()


def test_frozen_weights_get_no_gradient_and_pass_it_on():
    own = model()
    take_over(own)
    own[2].requires_grad_(False)
    with halved(own):
        _, (of_states, of_first, _, of_frozen, of_bias) = gradients(own, torch.randn(5, 12))
    assert of_states.abs().sum() > 0
    assert of_first.abs().sum() > 0
    assert of_frozen is None
    assert of_bias is None


def test_only_plain_layers_are_taken_over():
    class Special(nn.Linear):
        pass

    own = nn.Sequential(nn.Linear(3, 3), Special(3, 3))
    take_over(own)
    assert [type(part) for part in own] == [HalfLinear, Special]
    assert isinstance(copy.deepcopy(own)[0], nn.Linear)


def test_layers_that_read_the_same_states_share_one_cast():
    states = torch.randn(3, 4, 12)
    first = _halved(states)
    assert _halved(states) is first
    states.mul_(2)
    assert torch.equal(_halved(states), states.view(12, 12).bfloat16())
    half = torch.randn(2, 3).bfloat16()
    assert _halved(half).data_ptr() == half.data_ptr()
    with torch.inference_mode():
        inside = torch.randn(2, 3)
        assert torch.equal(_halved(inside), inside.bfloat16())
