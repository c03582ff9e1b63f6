"""Linear warm-up, then linearly down to nothing."""

from collections.abc import Callable

from tagwright.training.schedules import schedule


@schedule()
def linear(step_count: int, *, warmup: float = 0.1) -> Callable[[int], float]:
    """Factor of step 0, 1, …; `warmup` is a share of all steps. The step after the last would have
    0.

    >>> [linear(4, warmup=0.0)(step) for step in range(4)]
    [1.0, 0.75, 0.5, 0.25]
    """
    rising = warmup * step_count

    def factor(step: int) -> float:
        up = (step + 1) / rising if rising else 1.0
        down = (step_count - step) / (step_count - rising) if step_count > rising else 1.0
        return min(1.0, up, down)

    return factor


PART = linear
