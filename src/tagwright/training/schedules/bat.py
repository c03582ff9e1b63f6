"""The rate of BAT, eqs. 10 and 11: up in a straight line over `warmup` steps, then down with a
power of the step.

It is the rate itself, made for the width d of the model, and no share of a given one:
`fit.learning_rate` is 1.0 with it. Eq. 11 is λ · d^-½ · min(S^β · x^-α, S^-3/2 · x) at step x = 1,
2, …, with S = `warmup`, α = `decay`, λ = `scale`; at the defaults it is eq. 10. β = α - ½ is what
joins both lines at x = S; the β that the paper prints for its third rate leaves a gap there.
"""

from collections.abc import Callable

from tagwright.errors import SettingsError
from tagwright.training.schedules import schedule


@schedule(defaults={"fit": {"learning_rate": 1.0}})
def bat(
    step_count: int, width: int, *, warmup: int = 4000, decay: float = 0.5, scale: float = 1.0
) -> Callable[[int], float]:
    """Rate of step 0, 1, …; `width` is the model's d. The number of steps changes nothing: `warmup`
    counts steps.

    >>> rate = bat(50_000, 128)
    >>> round(rate(3999), 6), round(rate(15_999), 6)  # four times the steps, half the rate
    (0.001398, 0.000699)
    """
    if warmup < 1 or width < 1:
        raise SettingsError(
            f"bat wants schedule.warmup of at least 1 step and a width, got {warmup} and {width}"
        )
    factor = scale * width**-0.5

    def rate(step: int) -> float:
        x = step + 1
        return factor * min(warmup ** (decay - 0.5) * x**-decay, warmup**-1.5 * x)

    return rate


PART = bat
