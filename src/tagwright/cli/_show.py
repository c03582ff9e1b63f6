"""What the commands share in showing: JSON to stdout alone, all else to stderr."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from tagwright.errors import TagwrightError

console = Console(stderr=True, highlight=False)
METRICS = ("accuracy", "micro_f1", "macro_f1", "example_f1", "subset_accuracy", "lrap")


def fail(error: TagwrightError) -> NoReturn:
    """One message, exit code 2; an interrupted run that saved its state exits with 130."""
    from tagwright.fit.pipes import Interrupted

    console.print(f"[bold red]{'stopped' if isinstance(error, Interrupted) else 'error'}:[/] ", end="")
    console.print(str(error), markup=False, soft_wrap=True)
    sys.exit(130 if isinstance(error, Interrupted) else 2)


def say(text: str, *, style: str | None = None) -> None:
    """A line to stderr, as it is."""
    console.print(text, markup=False, style=style, soft_wrap=True)


def emit(content: Mapping[str, Any]) -> None:
    """One JSON object to stdout; a number that is not finite becomes null."""
    from tagwright.plain import plain

    sys.stdout.write(json.dumps(plain(content), ensure_ascii=False, indent=1) + "\n")


def metric_table(title: str, results: Mapping[str, float]) -> Table:
    """The metrics most people ask for first."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in METRICS:
        if column in results:
            table.add_column(column.replace("_", " "), justify="right")
    table.add_row(*(f"{results[name]:.4f}" for name in METRICS if name in results))
    return table


def band_table(results: Mapping[str, float]) -> Table:
    """F1 of frequent, middling and rare labels."""
    table = Table(title="by frequency in train", title_justify="left", title_style="bold")
    for column in ("band", "labels", "micro f1", "macro f1"):
        table.add_column(column, justify="left" if column == "band" else "right")
    for band in ("head", "middle", "tail"):
        if results.get(f"{band}_labels"):
            scores = (f"{results[f'{band}_{kind}_f1']:.4f}" for kind in ("micro", "macro"))
            table.add_row(band, f"{results[f'{band}_labels']:.0f}", *scores)
    return table


def show(table: Table) -> None:
    """A table to stderr."""
    console.print(table)


def training_bar(stream: Iterator[Any], title: str, start: int, total: int) -> Iterator[Any]:
    """Steps with a bar that shows loss, score and time left; plain lines at every evaluation when not a terminal."""
    if not console.is_terminal:
        yield from _training_lines(stream, title, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=console) as bar:
        task, score, mean = bar.add_task(title, total=total, completed=start), "", None
        for step in stream:
            mean = step.loss if mean is None else 0.98 * mean + 0.02 * step.loss
            score = f"  score {step.score:.4f}" if step.score is not None else score
            bar.update(task, completed=step.number, description=f"{title}  loss {mean:.4f}{score}")
            yield step


@contextmanager
def counting(title: str) -> Iterator[Callable[[int], None]]:
    """A running count of rows; a plain line every 100,000 when not a terminal."""
    if console.is_terminal:
        with Progress(TextColumn(f"{title} {{task.completed:,}} rows"), TimeElapsedColumn(), console=console) as bar:
            task = bar.add_task(title, total=None)
            yield lambda rows: bar.update(task, advance=rows)
        return
    done = 0

    def count(rows: int) -> None:
        nonlocal done
        if (done + rows) // 100_000 > done // 100_000:
            say(f"{title} {done + rows:,} rows")
        done += rows

    yield count


def _training_lines(stream: Iterator[Any], title: str, total: int) -> Iterator[Any]:
    loss, steps = 0.0, 0
    for step in stream:
        loss, steps = loss + step.loss, steps + 1
        if step.score is not None:
            place = f"{title}: step {step.number}/{total}, epoch {step.epoch:.2f}"
            say(f"{place}, loss {loss / steps:.4f}, score {step.score:.4f}")
            loss, steps = 0.0, 0
        yield step
