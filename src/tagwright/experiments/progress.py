"""Who looks on while runs are made, and what is told of them."""

from collections.abc import Callable, Sequence
from textwrap import shorten
from typing import NamedTuple

import numpy as np

from tagwright.experiments.ledger import Row
from tagwright.experiments.plan import Planned


class Under(NamedTuple):
    """How far a run is: its phase, steps done of how many, and the latest score."""

    phase: str
    done: int
    total: int
    score: float | None


class Watch:
    """Who looks on; this one sees nothing. Numbers are those of the runs in the plan, from 0."""

    def begin(self, runs: Sequence[Planned], rows: Sequence[Row | None]) -> None:
        """All runs, with the rows of those that are there."""

    def under_way(self, number: int, far: Under) -> None:
        """A run has come so far."""

    def end(self, number: int, row: Row) -> None:
        """A run has ended, well or not."""

    def say(self, text: str) -> None:
        """A sentence for a person."""


class Lines(Watch):
    """Tells in lines: how many runs there are, and of each that ends what it came to by one
    metric.
    """

    def __init__(self, metric: str, say: Callable[[str], None]) -> None:
        self.metric, self.tell = metric, say
        self.runs: Sequence[Planned] = ()

    def say(self, text: str) -> None:
        """As it is."""
        self.tell(text)

    def begin(self, runs: Sequence[Planned], rows: Sequence[Row | None]) -> None:
        """How many runs there are, and how many of them need not be made."""
        self.runs, there = runs, sum(row is not None for row in rows)
        self.say(f"{len(runs)} runs" + (f", {there} of them are there" if there else ""))

    def end(self, number: int, row: Row) -> None:
        """A line on what a run came to."""
        place = f"run {number + 1} of {len(self.runs)}: {named(self.runs[number])}"
        self.say(f"{place}: {came_to(row, self.metric)}")


def named(run: Planned) -> str:
    """A run by its place in the tables."""
    place = (run.data, run.encoder, run.cut.name, run.part, run.variant, f"seed {run.seed}")
    return ", ".join(word for word in place if word)


def came_to(row: Row, metric: str) -> str:
    """What a run came to, by one metric."""
    if "failed" in row:
        return f"failed ({shorten(row['failed'], 200, placeholder=' …')})"
    found = f"{metric} {row['scored'].get(metric, np.nan):.4f} on {row['on']}"
    dev = "" if row["on"] == "dev" else f" (dev {row['dev'].get(metric, np.nan):.4f})"
    return f"{found}{dev}, {row['seconds']:.1f} s"
