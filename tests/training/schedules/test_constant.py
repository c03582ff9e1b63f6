"""The constant schedule."""

import pytest

from tagwright.training.schedules.constant import constant


def test_full_rate_at_every_step_without_warm_up():
    assert [constant(7)(step) for step in range(7)] == [1.0] * 7


def test_rises_in_equal_steps_and_stays():
    factor = constant(20, warmup=0.2)
    assert [factor(step) for step in range(20)] == pytest.approx([0.25, 0.5, 0.75] + [1.0] * 17)


def test_first_step_already_learns():
    assert constant(1000, warmup=0.5)(0) == pytest.approx(1 / 500)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.33, 1.0])
@pytest.mark.parametrize("steps", [1, 3, 41])
def test_factor_lies_in_reach_and_never_falls(steps: int, warmup: float):
    factors = [constant(steps, warmup=warmup)(step) for step in range(steps)]
    assert all(0 < factor <= 1 for factor in factors)
    assert factors == sorted(factors)
    assert factors[-1] == 1.0
