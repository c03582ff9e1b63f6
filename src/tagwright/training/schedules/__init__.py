"""Schedules: the factor on the learning rate at a step."""

from collections.abc import Callable, Mapping

from tagwright.registry import Function, Kind, P

__all__ = ["KIND", "Schedule", "schedule"]


class Schedule(Function[P, Callable[[int], float]]):
    """A function of the facts that it needs, and of its settings, to the factor at step 0, 1, ….

    `defaults` are settings of other sections that go with it; what the user gives goes before them.
    """

    def __init__(
        self, function: Callable[P, Callable[[int], float]], defaults: Mapping[str, object]
    ) -> None:
        super().__init__(function)
        self.defaults = defaults


def schedule(
    *, defaults: Mapping[str, object] | None = None
) -> Callable[[Callable[P, Callable[[int], float]]], Schedule[P]]:
    """Makes a function a schedule."""
    return lambda function: Schedule(function, defaults or {})


KIND = Kind(
    title="schedule",
    facts={
        "step_count": "how many steps the training has",
        "width": "the width of the encoder's answer",
    },
    base=Schedule,
)
