"""The full rate after a linear warm-up."""

from collections.abc import Callable

from tagwright.training.schedules import schedule


@schedule()
def constant(step_count: int, *, warmup: float = 0.0) -> Callable[[int], float]:
    """Factor of step 0, 1, …; `warmup` is a share of all steps.

    >>> [constant(4, warmup=0.5)(step) for step in range(4)]
    [0.5, 1.0, 1.0, 1.0]
    """
    rising = warmup * step_count
    return lambda step: min(1.0, (step + 1) / rising) if rising else 1.0


PART = constant
