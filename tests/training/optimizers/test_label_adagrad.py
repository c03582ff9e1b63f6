"""Adagrad with one number a label: its formula, half-precision weights that lose nothing on
average, and no copies.
"""

import copy

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from tagwright.errors import SettingsError
from tagwright.training.optimizers import label_adagrad
from tagwright.training.optimizers.label_adagrad import LabelAdagrad, rounded_at_random


def weights(rows=7, width=5, dtype=torch.float32):
    draw = torch.Generator().manual_seed(0)
    return nn.Parameter(torch.randn(rows, width, generator=draw).to(dtype))


def gradients(count, shape):
    draw = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=draw) * 0.1 for _ in range(count)]


def moved(weight, steps, **settings):
    optimizer = LabelAdagrad([weight], **settings)
    for gradient in steps:
        weight.grad = gradient.to(weight.dtype)
        optimizer.step()
    return optimizer


@pytest.mark.parametrize("shape", [(7, 5), (7,)])
def test_the_formula_row_by_row(shape, monkeypatch):
    monkeypatch.setattr(label_adagrad, "_BLOCK", {"cpu": 10})  # two rows a slice
    weight = nn.Parameter(torch.ones(shape))
    steps = gradients(3, shape)
    moved(weight, steps, lr=0.5, floor=0.25)
    expected, total = torch.ones(7, weight.numel() // 7, dtype=torch.float64), [0.25**2] * 7
    for gradient in steps:
        for row, values in enumerate(gradient.double().view(7, -1)):
            total[row] += sum(float(value) ** 2 for value in values)
            expected[row] -= 0.5 * values / total[row] ** 0.5
    torch.testing.assert_close(weight.detach().double().view(7, -1), expected, rtol=1e-6, atol=1e-6)


def test_a_label_without_a_gradient_stays():
    weight = weights()
    before = weight.detach().clone()
    step = torch.zeros(7, 5)
    step[3] = 1
    moved(weight, [step])
    assert torch.equal(weight[:3], before[:3])
    assert not torch.equal(weight[3], before[3])


def test_the_state_is_one_float_a_label():
    optimizer = moved(weights(dtype=torch.bfloat16), gradients(1, (7, 5)))
    (state,) = optimizer.state_dict()["state"].values()
    assert [(key, tuple(value.shape), value.dtype) for key, value in state.items()] == [
        ("squares", (7, 1), torch.float32)
    ]


def test_small_steps_are_not_lost_in_bfloat16():
    """A step of 1/2048 is an eighth of what lies between 1 and its neighbor below: rounding to the
    nearest stays.
    """
    weight = nn.Parameter(torch.ones(2000, 16, dtype=torch.bfloat16))
    moved(weight, [torch.full((2000, 16), 1 / 2048)] * 40, lr=1e6, floor=1e6)
    assert weight.float().mean().item() == pytest.approx(1 - 40 / 2048, abs=3e-4)
    assert torch.ones((), dtype=torch.bfloat16) - 1 / 2048 == 1


def test_what_bfloat16_can_hold_is_not_rounded():
    exact = torch.tensor([0.0, -0.0, 1.0, -2.5, 2.0**-126, torch.inf, -torch.inf])
    for seed in range(20):
        assert torch.equal(
            rounded_at_random(exact, torch.Generator().manual_seed(seed)).float(), exact
        )
    assert rounded_at_random(torch.tensor([torch.nan]), torch.Generator()).isnan().all()


def test_rounding_goes_to_one_of_both_neighbors():
    values = torch.full((1000,), -1.003)
    found = rounded_at_random(values, torch.Generator().manual_seed(0)).float().unique()
    assert found.tolist() == [-1.0078125, -1.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_run_taken_up_again_goes_on_in_the_same_bits(dtype):
    steps = gradients(6, (7, 5))
    whole = weights(dtype=dtype)
    moved(whole, steps, seed=3)
    first = weights(dtype=dtype)
    state = copy.deepcopy(moved(first, steps[:4], seed=3).state_dict())
    again = LabelAdagrad([first], seed=3)
    again.load_state_dict(state)
    for gradient in steps[4:]:
        first.grad = gradient.to(dtype)
        again.step()
    assert torch.equal(first, whole)


def test_the_seed_decides_the_rounding():
    found = []
    for seed in (0, 0, 1):
        weight = weights(50, 50, torch.bfloat16)
        moved(weight, gradients(2, (50, 50)), seed=seed)
        found.append(weight.detach())
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


class Largest(TorchDispatchMode):
    """The largest number of elements that an operation made anew."""

    largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = {a.untyped_storage().data_ptr() for a in args if isinstance(a, torch.Tensor)}
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.untyped_storage().data_ptr() not in given:
            self.largest = max(self.largest, result.numel())
        return result


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_neither_step_nor_clipping_copies_the_matrix(dtype, monkeypatch):
    monkeypatch.setattr(label_adagrad, "_BLOCK", {"cpu": 64})
    weight = weights(100, 16, dtype)
    weight.grad = torch.ones(100, 16, dtype=dtype)
    optimizer = LabelAdagrad([weight])
    with Largest() as seen:
        nn.utils.clip_grad_norm_([weight], 1.0)
        optimizer.step()
    assert seen.largest <= 100
    torch.testing.assert_close(weight.grad.float().norm().item(), 1.0, rtol=1e-2, atol=0)


@pytest.mark.parametrize("settings", [{"lr": -1.0}, {"floor": 0.0}])
def test_senseless_settings_are_refused(settings):
    with pytest.raises(SettingsError, match="label Adagrad"):
        LabelAdagrad([weights()], **settings)
