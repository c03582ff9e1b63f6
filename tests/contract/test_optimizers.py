"""What every optimizer keeps: the loop and the checkpoints ask no more of one."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from tagwright.training.optimizers.joint import Optimizer
from tagwright.training.optimizers.optimizer import build_optimizer

RATE = 0.05


def dense(**options: object) -> Callable[[nn.Module], Optimizer]:
    return lambda model: build_optimizer(
        model, learning_rate=RATE, weight_decay=0.01, batch=4, **options
    )


OPTIMISERS = {
    "adamw": dense(),
    "row_adagrad": dense(sparse=True),
    "sgd": dense(name="sgd"),
    "label_adagrad": lambda model: dense(labels=[(model[1], RATE)])(model),
    "label_adagrads": lambda model: dense(labels=[(model[1], RATE), (model[2], 2 * RATE)])(model),
}
every = pytest.mark.parametrize("make", OPTIMISERS.values(), ids=OPTIMISERS)
INPUTS = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
TRUTH = torch.randn(8, 2, generator=torch.Generator().manual_seed(1))


def model_of() -> nn.Sequential:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2))


def steps(model: nn.Module, optimizer: Optimizer, count: int) -> list[float]:
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = (model(INPUTS) - TRUTH).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@every
def test_steps_lower_the_loss(make: Callable[[nn.Module], Optimizer]):
    model = model_of()
    losses = steps(model, make(model), 30)
    assert losses[-1] < 0.9 * losses[0]


@every
def test_every_parameter_has_a_rate_that_can_be_set(make: Callable[[nn.Module], Optimizer]):
    model = model_of()
    optimizer = make(model)
    grouped = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
    assert sorted(grouped) == sorted(map(id, model.parameters()))
    before = [parameter.clone() for parameter in model.parameters()]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    steps(model, optimizer, 2)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters()))


@every
def test_a_state_is_all_that_the_next_step_depends_on(make: Callable[[nn.Module], Optimizer]):
    whole, first, second = model_of(), model_of(), model_of()
    expected = steps(whole, make(whole), 6)
    started, resumed = make(first), make(second)
    found = steps(first, started, 3)
    second.load_state_dict(first.state_dict())
    resumed.load_state_dict(started.state_dict())
    assert found + steps(second, resumed, 3) == expected


@every
def test_gradients_are_forgotten(make: Callable[[nn.Module], Optimizer]):
    model = model_of()
    optimizer = make(model)
    steps(model, optimizer, 1)
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())
