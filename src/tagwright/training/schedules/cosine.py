"""Linear warm-up, then down along half a cosine."""

import math
from collections.abc import Callable

from tagwright.training.schedules import schedule


@schedule()
def cosine(step_count: int, *, warmup: float = 0.1) -> Callable[[int], float]:
    """Factor of step 0, 1, …; `warmup` is a share of all steps. The step after the last would have
    0.

    >>> [round(cosine(4, warmup=0.0)(step), 2) for step in range(4)]
    [1.0, 0.85, 0.5, 0.15]
    """
    rising = warmup * step_count

    def factor(step: int) -> float:
        if rising and step + 1 < rising:
            return (step + 1) / rising
        share = (step - rising) / (step_count - rising) if step_count > rising else 0.0
        return 0.5 * (1 + math.cos(math.pi * min(max(share, 0.0), 1.0)))

    return factor


PART = cosine
