"""Runs while they are made: a table that lives in a terminal, lines elsewhere."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import mean, stdev

from rich.console import Group
from rich.live import Live
from rich.table import Table

from tagwright.cli import _show
from tagwright.experiments.ledger import Row
from tagwright.experiments.plan import Planned
from tagwright.experiments.progress import Lines, Under, Watch

Line = tuple[str, str, str, str]  # data, encoder, cut, variant
MOST_LINES = 24  # of the table under way: it must fit on a screen


@contextmanager
def looking_on() -> Iterator[Callable[[str], Watch]]:
    """Makes of the metric who looks on; what it shows is gone or whole when the block ends."""
    made: list[LiveTable] = []

    def watch(metric: str) -> Watch:
        if not _show.console.is_terminal:
            return Lines(metric, _show.say)
        made.append(LiveTable(metric))
        return made[-1]

    try:
        yield watch
    finally:
        for table in made:
            table.stop()


class LiveTable(Watch):
    """A line for every variant: its seeds, the mean so far, and what is under way."""

    def __init__(self, metric: str) -> None:
        self.metric, self.started, self.made = metric, time.monotonic(), 0
        self.runs: Sequence[Planned] = ()
        self.rows: list[Row | None] = []
        self.far: dict[int, Under] = {}
        self.live: Live | None = None

    def say(self, text: str) -> None:
        """A line above the table."""
        _show.say(text)

    def begin(self, runs: Sequence[Planned], rows: Sequence[Row | None]) -> None:
        """The table appears."""
        self.runs, self.rows, self.started = runs, list(rows), time.monotonic()
        self.live = Live(
            console=_show.console, transient=True, refresh_per_second=4, get_renderable=self.table
        )
        self.live.start()

    def under_way(self, number: int, far: Under) -> None:
        """Shown with the next refresh."""
        self.far[number] = far

    def end(self, number: int, row: Row) -> None:
        """The mean of its line moves; a failure is told at once."""
        self.far.pop(number, None)
        self.rows[number], self.made = row, self.made + 1
        if "failed" in row:
            _show.say(f"run {number + 1} failed: {row['failed']}", style="red")

    def stop(self) -> None:
        """The table goes; the results come after it."""
        if self.live is not None:
            self.live.stop()

    def table(self) -> Group:
        """Everything as it stands."""
        lines: dict[Line, list[int]] = {}
        for number, run in enumerate(self.runs):
            lines.setdefault((run.data, run.encoder, run.cut.name, run.variant), []).append(number)
        several = [len({line[i] for line in lines}) > 1 for i in range(4)]
        several[3] = True
        table = Table(pad_edge=False)
        for name, shown in zip(("data", "encoder", "cut", "objective"), several):
            if shown:
                table.add_column(name, no_wrap=True)
        for name in ("seeds", self.metric, "under way"):
            table.add_column(name, justify="right" if name != "under way" else "left", no_wrap=True)
        for line, numbers in self._shown(lines):
            table.add_row(
                *(word for word, shown in zip(line, several) if shown), *self._cells(numbers)
            )
        return Group(table, self._left())

    def _shown(self, lines: Mapping[Line, list[int]]) -> list[tuple[Line, list[int]]]:
        """All lines, or of very many those around what is under way."""
        every = list(lines.items())
        now = next(
            (i for i, (_, numbers) in enumerate(every) if any(n in self.far for n in numbers)), 0
        )
        start = max(0, min(now - MOST_LINES // 2, len(every) - MOST_LINES))
        return every[start : start + MOST_LINES]

    def _cells(self, numbers: Sequence[int]) -> tuple[str, str, str]:
        rows = [self.rows[n] for n in numbers]
        found = [
            r["scored"][self.metric]
            for r in rows
            if r and "failed" not in r and self.metric in r["scored"]
        ]
        failed = sum(row is not None and "failed" in row for row in rows)
        done = f"{len(found)}/{len(numbers)}" + (f", {failed} failed" if failed else "")
        middle = f"{mean(found):.4f}" if found else ""
        if len(found) > 1:
            middle += f" ± {stdev(found):.4f}"
        return (
            done,
            middle,
            "  ".join(_far(self.runs[n], self.far[n]) for n in numbers if n in self.far),
        )

    def _left(self) -> str:
        """How many runs are done, and about how long the rest takes."""
        done = sum(row is not None for row in self.rows)
        passed = time.monotonic() - self.started
        left = (
            f", about {_span(passed / self.made * (len(self.rows) - done))} left"
            if self.made
            else ""
        )
        return f"{done} of {len(self.rows)} runs, {_span(passed)}{left}"


def _far(run: Planned, far: Under) -> str:
    """Seed, share of the steps, latest score."""
    score = "" if far.score is None else f" {far.score:.4f}"
    return (
        f"seed {run.seed}"
        f" {far.phase if far.phase != 'fit' else ''}{far.done / max(far.total, 1):4.0%}{score}"
    )


def _span(seconds: float) -> str:
    """Seconds as a person says them.

    >>> _span(42), _span(750), _span(9000)
    ('42 s', '12:30', '2:30:00')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
