"""What is done to the stream of a loop's steps: each function takes steps and gives steps."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from tagwright.errors import TagwrightError
from tagwright.training.history import History
from tagwright.training.loop import Step


class Interrupted(TagwrightError):
    """The run was asked to stop; it has saved its state."""


def due(number: int, *, every: float, total: int) -> bool:
    """Whether a step is followed by an evaluation: after every `every` steps (a fraction works too)
    and the last.
    """
    return int(number / every) > int((number - 1) / every) or number == total


class Evaluation(NamedTuple):
    """The score that the best model is chosen by, and other metrics to be shown beside it."""

    score: float
    beside: Mapping[str, float] = {}


def evaluated(
    steps: Iterator[Step], evaluate: Callable[[], Evaluation], due: Callable[[int], bool]
) -> Iterator[Step]:
    """Adds an evaluation to the steps that are due."""
    for step in steps:
        yield replace(step, **evaluate()._asdict()) if due(step.number) else step


def recorded(steps: Iterator[Step], history: History, keep: Callable[[], None]) -> Iterator[Step]:
    """Writes every step into the history, and calls `keep` when a score is the best so far."""
    for step in steps:
        if history.add(step):
            keep()
        yield step


def stopped(steps: Iterator[Step], history: History, *, patience: int) -> Iterator[Step]:
    """Ends the run when the last `patience` evaluations brought nothing better; 0 never does."""
    if patience and history.stale >= patience:
        return
    for step in steps:
        yield step
        if patience and history.stale >= patience:
            return


def saved(steps: Iterator[Step], save: Callable[[int], None], *, seconds: float) -> Iterator[Step]:
    """Saves when so many seconds have passed since the last time, and at the end.

    Only a settled step can be. Where a save takes long (a large label matrix), the next waits nine
    times as long: saving costs a tenth at most.
    """
    last, unsaved, took = time.monotonic(), None, 0.0
    for step in steps:
        unsaved, now = step.number, time.monotonic()
        if step.settled and now - last >= (max(seconds, 9 * took) if seconds else 0):
            save(step.number)
            last, unsaved = time.monotonic(), None
            took = last - now
        yield step
    if unsaved is not None:
        save(unsaved)


def interruptible(
    steps: Iterator[Step], asked: Callable[[], bool], save: Callable[[int], None]
) -> Iterator[Step]:
    """Ends with `Interrupted` after the step in which `asked` became true, its state saved."""
    for step in steps:
        yield step
        if step.settled and asked():
            save(step.number)
            raise Interrupted(
                f"stopped after {step.unit} {step.number}; the state is saved, go on with --resume"
            )
