"""The linear schedule."""

import pytest

from tagwright.training.schedules.linear import linear


def reference(step: int, steps: int, warmup: float) -> float:
    """Up to 1 over the warm-up, then along the straight line that meets 0 after the last step."""
    rising = warmup * steps
    if step + 1 < rising:
        return (step + 1) / rising
    if step <= rising:
        return 1.0
    return 1 - (step - rising) / (steps - rising)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("steps", [1, 4, 7, 41, 100])
def test_factors_are_those_of_the_two_lines(steps: int, warmup: float):
    factor = linear(steps, warmup=warmup)
    expected = [reference(step, steps, warmup) for step in range(steps + 1)]
    assert [factor(step) for step in range(steps + 1)] == pytest.approx(expected, abs=1e-12)


def test_a_tenth_of_the_steps_warms_up_by_default():
    factors = [linear(100)(step) for step in range(100)]
    assert factors[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert factors.index(max(factors)) == 9
    assert factors[55] == pytest.approx(0.5)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.5, 0.9])
def test_step_after_the_last_has_zero(warmup: float):
    assert linear(13, warmup=warmup)(13) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.5, 1.0])
def test_every_step_learns(warmup: float):
    assert all(0 < linear(13, warmup=warmup)(step) <= 1 for step in range(13))
