"""What every schedule keeps, whichever package it came from."""

import math

import pytest

from tagwright import registry
from tagwright.settings.schema import resolve

pytestmark = pytest.mark.parametrize("name", registry.names("schedules"))


@pytest.mark.parametrize("step_count", [1, 2, 97])
def test_every_step_has_a_finite_factor(name: str, step_count: int):
    factor = registry.build("schedules", name, {}, step_count=step_count, width=8)
    factors = [factor(step) for step in range(step_count)]
    assert all(math.isfinite(one) and one >= 0 for one in factors)
    assert max(factors) > 0


def test_a_factor_is_a_function_of_its_step(name: str):
    factor, again = (
        registry.build("schedules", name, {}, step_count=23, width=8) for _ in range(2)
    )
    assert [factor(step) for step in reversed(range(23))][::-1] == [
        again(step) for step in range(23)
    ]


def test_what_it_brings_for_other_sections_are_settings(name: str):
    found = resolve({"schedule": name}).as_dict()
    for section, values in registry.find("schedules", name).factory.defaults.items():
        assert {key: found[section][key] for key in values} == values
