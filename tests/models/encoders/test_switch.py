import pytest
import torch
import torch.nn.functional as F

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.encoders._layer import FeedForward
from tagwright.models.encoders.switch import Experts


def experts_of(count: int) -> Experts:
    torch.manual_seed(0)
    experts = Experts(6, 5, count).double()
    for weight in experts.parameters():
        weight.data += 0.3 * torch.randn_like(weight)
    return experts


def test_one_expert_is_the_plain_network() -> None:
    experts, plain = experts_of(1), FeedForward(6, 5).double()
    plain.into.load_state_dict(experts.into.state_dict())
    plain.out.weight.data, plain.out.bias.data = experts.out.weight.data, experts.bias.data[0]
    states = torch.randn(2, 7, 6, dtype=torch.float64)
    torch.testing.assert_close(experts(states), plain(states), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("training", [True, False])
def test_each_token_goes_to_its_best_expert_and_none_is_dropped(training: bool) -> None:
    experts = experts_of(3).train(training)
    states = torch.randn(2, 40, 6, dtype=torch.float64)
    found, used = experts(states), set()
    for text in range(2):
        for place in range(40):
            token = states[text, place]
            chances = torch.softmax(experts.router.weight @ token, 0)
            best = int(chances.argmax())
            used.add(best)
            rows = slice(5 * best, 5 * best + 5)
            inner = F.relu(experts.into.weight[rows] @ token + experts.into.bias[rows])
            expected = chances[best] * (experts.out.weight[:, rows] @ inner + experts.bias[best])
            torch.testing.assert_close(found[text, place], expected, rtol=1e-10, atol=1e-12)
    assert used == {0, 1, 2}


def test_router_learns_through_the_gate() -> None:
    experts = experts_of(3)
    experts(torch.randn(1, 20, 6, dtype=torch.float64)).square().sum().backward()
    assert experts.router.weight.grad.abs().sum() > 0


def test_no_expert_is_an_error() -> None:
    with pytest.raises(SettingsError, match="experts must be a whole number from 1, got 0"):
        registry.build("encoders", "switch", {"experts": 0}, sizes=(5,))
