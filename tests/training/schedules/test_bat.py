"""The rate of BAT against eqs. 10 and 11."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.training.schedules.bat import bat

VECTORS = Path(__file__).parents[4] / "shared" / "papers" / "vectors.json"

# alpha, lambda, width, warm-up, step from 1 on, rate
CASES = [
    (0.5, 1.0, 128, 4000, 1, 3.493856214843422e-07),
    (0.5, 1.0, 128, 4000, 50000, 0.0003952847075210475),
    (0.5, 1.0, 512, 4000, 4000, 0.0006987712429686843),
    (0.5454545454545454, 1.0, 128, 4000, 10000, 0.0008478261994394249),
    (0.46153846153846156, 1.0, 128, 4000, 50000, 0.0004356110217503092),
]


def published() -> list[tuple]:
    """The paper's whole list where it lies beside the project, without the β that the paper prints
    wrongly.
    """
    if not VECTORS.exists():
        return []
    content = json.loads(VECTORS.read_text(encoding="utf-8"))
    cases = [
        {"alpha": 0.5, "beta": 0.0, "lambda": 1.0, **case} for case in content["lr_eq10"]["cases"]
    ]
    cases += content["lr_eq11"]["cases"]
    keys = ("alpha", "lambda", "d_model", "warmup", "step", "expected")
    return [
        tuple(case[key] for key in keys)
        for case in cases
        if abs(case["alpha"] - 0.5 - case["beta"]) < 1e-12
    ]


def reference(alpha: float, scale: float, width: int, warmup: int, step: int) -> float:
    """λ · d^-½ · min(S^β · x^-α, S^-3/2 · x), term by term in 28 digits."""
    a, s, x, half = Decimal(alpha), Decimal(warmup), Decimal(step), Decimal("0.5")
    return float(
        Decimal(scale)
        * Decimal(width) ** -half
        * min(s ** (a - half) * x**-a, s ** Decimal("-1.5") * x)
    )


@pytest.mark.parametrize(
    ("alpha", "scale", "width", "warmup", "step", "expected"), [*CASES, *published()]
)
def test_rates_are_those_of_the_paper(alpha, scale, width, warmup, step, expected):
    rate = bat(7, width, warmup=warmup, decay=alpha, scale=scale)
    assert rate(step - 1) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 6 / 13, 0.5, 6 / 11, 1.0])
@pytest.mark.parametrize(
    ("width", "warmup", "scale"), [(1, 1, 1.0), (41, 13, 0.3), (401, 1271, 2.0)]
)
def test_rates_are_those_of_the_formula(alpha: float, width: int, warmup: int, scale: float):
    rate = bat(2000, width, warmup=warmup, decay=alpha, scale=scale)
    for step in (1, 2, 12, 13, 14, 1271, 1272, 2000):
        assert rate(step - 1) == pytest.approx(
            reference(alpha, scale, width, warmup, step), rel=1e-12
        )


@pytest.mark.parametrize("alpha", [6 / 13, 0.5, 6 / 11])
def test_both_lines_meet_at_the_end_of_the_warm_up_whatever_the_power(alpha: float):
    rates = [bat(100, 64, warmup=10, decay=alpha)(step) for step in range(100)]
    assert rates.index(max(rates)) == 9
    assert rates[9] == pytest.approx(64**-0.5 * 10**-0.5, rel=1e-12)
    assert rates[:10] == pytest.approx([rates[0] * (step + 1) for step in range(10)])


def test_the_width_is_a_fact_and_the_rest_are_settings():
    rate = registry.build("schedules", "bat", {"warmup": 10, "scale": 2.0}, step_count=5, width=128)
    assert rate(0) == pytest.approx(2 * 128**-0.5 * 10**-1.5)
    assert registry.options(bat).keys() == {"warmup", "decay", "scale"}


def test_the_learning_rate_it_multiplies_is_one_by_default():
    assert bat.defaults == {"fit": {"learning_rate": 1.0}}


def test_no_warm_up_is_refused():
    with pytest.raises(SettingsError, match="at least 1 step"):
        bat(10, 128, warmup=0)
