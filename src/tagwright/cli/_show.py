"""What the commands share in showing: results, or JSON alone, to stdout; all else to stderr."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tagwright.cli._console import PlainConsole, visible, visible_json
from tagwright.cli._files import told
from tagwright.errors import TagwrightError

if TYPE_CHECKING:
    from tagwright.pipelines.fit import FitResult
    from tagwright.reports.facts import Band, PerLabel
    from tagwright.training.loop import Step

console = PlainConsole(stderr=True)
results_console = PlainConsole()
METRICS = ("accuracy", "micro_f1", "macro_f1", "example_f1", "subset_accuracy", "lrap")
# where nobody knows the whole ranking
OF_SHORTLISTS = (
    *METRICS[:-1],
    "precision_at_1",
    "ndcg_at_5",
)


def fail(error: TagwrightError | OSError) -> NoReturn:
    """One message, exit code 2; an interrupted run that saved its state says so and exits with
    130.
    """
    from tagwright.training.step_stream import Interrupted

    if isinstance(error, Interrupted):
        say(str(error))
        sys.exit(130)
    reason = told(error) if isinstance(error, OSError) else str(error)
    _print(console, Text.assemble(("error:", "bold red"), " ", console.render_str(reason)))
    sys.exit(2)


def say(text: str, *, style: str | None = None) -> None:
    """A line to stderr, as it is."""
    _print(console, console.render_str(text, style=style or ""))


def result(text: str, *, style: str | None = None) -> None:
    """A line of the result, to stdout."""
    _print(results_console, results_console.render_str(text, style=style or ""))


def page(markdown: str) -> None:
    """A page of results to stdout: laid out in a terminal, as it is for a file."""
    if not results_console.is_terminal:
        results_console.write(visible(markdown) + "\n")
        return
    from rich.markdown import Markdown

    results_console.print(Markdown(visible(markdown)))


def _print(to: Console, text: Text) -> None:
    """A terminal gets lines broken between words; a file gets them whole."""
    to.print(text, soft_wrap=not to.is_terminal)


@contextmanager
def resumable(kept: str) -> Iterator[None]:
    """Ctrl-C inside says what is kept and how to go on."""
    from tagwright.training.step_stream import Interrupted

    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"stopped; {kept}, go on with the same command and --resume") from None


def many(count: int, noun: str) -> str:
    """A count with its noun.

    >>> many(1, "text"), many(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def measured_on(split: str, texts: int, tokens: int | None) -> str:
    """Where figures come from.

    >>> measured_on("dev", 495, None), measured_on("dev", 495, 14378)
    ('dev, 495 texts', 'dev, 14,378 tokens of 495 texts')
    """
    size = many(texts, "text")
    return f"{split}, {size}" if tokens is None else f"{split}, {many(tokens, 'token')} of {size}"


def emit(content: Mapping[str, object]) -> None:
    """One JSON object to stdout; a number that is not finite becomes null."""
    from tagwright.storage.files import json_ready

    unicode = "utf" in results_console.encoding
    text = json.dumps(json_ready(content), ensure_ascii=not unicode, indent=1)
    results_console.write(visible_json(text) + "\n")


def metric_table(title: str, results: Mapping[str, float]) -> Table:
    """The metrics most people ask for first."""
    table = Table(title=title, title_justify="left", title_style="bold")
    from tagwright.metrics import shown_first

    usual = METRICS if "lrap" in results else OF_SHORTLISTS
    shown = [name for name in (*usual, *shown_first()) if name in results]
    for column in shown:
        table.add_column(column.replace("_", " "), justify="right")
    table.add_row(*(f"{results[name]:.4f}" for name in shown))
    return table


def tag_table(title: str, results: Mapping[str, float], tags: Sequence[str]) -> Table:
    """The metrics of a model that tags tokens, whole spans first where its tags tell of them."""
    from tagwright.reports.figures import MEASURES, figures_of_tags

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("counted")
    for measure in MEASURES.values():
        table.add_column(measure, justify="right")
    for counted, values in figures_of_tags(results, tags):
        table.add_row(counted, *(f"{value:.4f}" for value in values))
    return table


def fit_tables(outcome: "FitResult") -> None:
    """What a run came to on dev: a table for each head."""
    for name, head in outcome.heads.items() or [(None, outcome)]:
        title = measured_on("dev", head.rows, head.tokens)
        title = title if name is None else f"{name}: {title}"
        if head.tokens is None:
            show(metric_table(title, head.metrics))
        else:
            show(tag_table(title, head.metrics, head.label_names))


def type_table(names: Sequence[str], scores: "PerLabel", *, most: int = 12) -> Table:
    """Whole spans of every type, the most frequent first."""
    order = sorted(range(len(names)), key=lambda i: -int(scores["support"][i]))
    title = "whole spans by type" + (
        f", the {most} most frequent of {len(names):,}" if len(names) > most else ""
    )
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("type", overflow="fold")
    for column in ("F1", "F2", "precision", "recall", "true", "found"):
        table.add_column(column, justify="right")
    for i in order[:most]:
        shares = (f"{scores[name][i]:.4f}" for name in ("f1", "f2", "precision", "recall"))
        table.add_row(names[i], *shares, f"{scores['support'][i]:,}", f"{scores['predicted'][i]:,}")
    return table


def band_table(bands: "Iterable[Band]") -> Table:
    """F1 of frequent, middling and rare labels."""
    table = Table(title="by frequency in train", title_justify="left", title_style="bold")
    for column in ("band", "labels", "texts of a label", "micro f1", "macro f1"):
        table.add_column(column, justify="left" if column == "band" else "right")
    for band in bands:
        least, most = band["from_count"], band["to_count"]
        texts = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        table.add_row(
            band["band"],
            str(band["labels"]),
            texts,
            f"{band['micro_f1']:.4f}",
            f"{band['macro_f1']:.4f}",
        )
    return table


def show(table: Table) -> None:
    """A table of results to stdout."""
    results_console.print(table)


def training_bar(stream: "Iterator[Step]", title: str, start: int, total: int) -> "Iterator[Step]":
    """Steps with a bar that shows loss, score and time left; plain lines when not a terminal."""
    if not console.is_terminal:
        yield from _training_lines(stream, title, total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
    )
    with Progress(
        *columns, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=console
    ) as bar:
        task, score, mean = bar.add_task(title, total=total, completed=start), "", None
        # while under way: the echo of Ctrl-C moves the bar on and leaves it there twice
        bar.live.transient = True
        for step in stream:
            mean = step.loss if mean is None else 0.98 * mean + 0.02 * step.loss
            score = f"  score {step.score:.4f}" if step.score is not None else score
            bar.update(task, completed=step.number, description=f"{title}  loss {mean:.4f}{score}")
            yield step
        bar.live.transient = False


@contextmanager
def counting(title: str) -> Iterator[Callable[[int], None]]:
    """A running count of rows; a plain line every 100,000 when not a terminal."""
    if console.is_terminal:
        with Progress(
            TextColumn(f"{title} {{task.completed:,}} rows"), TimeElapsedColumn(), console=console
        ) as bar:
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


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of what is done of how many, with the time left; a plain line every tenth when not a
    terminal.
    """
    if not console.is_terminal:
        shown = 0

        def tell(done: int, total: int) -> None:
            nonlocal shown
            if total and 10 * done // total > shown:
                shown = 10 * done // total
                say(f"{title}: {done:,} of {total:,}")

        yield tell
        return
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(
        *columns, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=console
    ) as bar:
        task = bar.add_task(title, total=0)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _training_lines(stream: "Iterator[Step]", title: str, total: int) -> "Iterator[Step]":
    loss, steps = 0.0, 0
    for step in stream:
        loss, steps = loss + step.loss, steps + 1
        if step.score is not None:
            place = f"{title}: step {step.number}/{total}, epoch {step.epoch:.2f}"
            say(f"{place}, loss {loss / steps:.4f}, score {step.score:.4f}")
            loss, steps = 0.0, 0
        elif step.unit == "label" and 10 * step.number // total > 10 * (step.number - 1) // total:
            say(f"{title}: {step.number:,} of {many(total, 'label')}")
        yield step
