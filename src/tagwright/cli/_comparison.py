"""Shows a comparison."""

from rich.table import Table

from tagwright.cli import _show
from tagwright.experiments.comparison_files import Comparison
from tagwright.reports.compare import differing
from tagwright.reports.compare_facts import CompareFacts, Difference, Summary

# columns of a terminal that has room for two metrics, for the untuned figure
WIDE, WIDER = (
    100,
    120,
)
BESIDE = ("micro_f1", "macro_f1", "accuracy")  # the report has them all
# micro F1 of tokens is their accuracy, high wherever most are outside
BESIDE_SPANS = (
    "macro_f1",
    "macro_f2",
)


def show_comparison(done: Comparison) -> None:
    """Mean ± sd of each objective, the paired interval on the primary metric, what it cost, the
    verdict.
    """
    facts = done.facts
    encoders, width = len(facts.encoders) > 1, _show.results_console.width
    table = Table(
        title=f"{facts.title} ({facts.split})",
        title_justify="left",
        title_style="bold",
        pad_edge=False,
    )
    for name in ("encoder", "objective") if encoders else ("objective",):
        table.add_column(name, no_wrap=True)
    shown = _metrics(facts)[: 2 if width >= WIDE else 1]
    untuned = width >= WIDER and any(facts.metric in row["untuned"] for row in facts.summary)
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    if untuned:
        table.add_column("untuned", justify="right", no_wrap=True)
    table.add_column(f"{facts.metric}\n− {facts.baseline}", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    if width >= WIDE:
        table.add_column("memory", justify="right", no_wrap=True)
    before = facts.encoders[0]
    for row in facts.summary:
        if row["encoder"] != before:
            table.add_section()
        before = row["encoder"]
        cells = [_spread(row["metrics"].get(name), row) for name in shown]
        cells += [_spread(row["untuned"].get(facts.metric), row)] if untuned else []
        cells += [_difference(facts, row), f"{row['seconds']:.1f}" if row["finished"] else ""]
        cells += [_gigabytes(row["memory"])] if width >= WIDE else []
        table.add_row(*([row["encoder"]] if encoders else []), row["objective"], *cells)
    _show.show(table)
    for sentence in differing(facts):
        _show.result(sentence)
    _show.result(facts.verdict)
    if done.report:
        _show.say(f"report: {done.report}")


def _metrics(facts: CompareFacts) -> list[str]:
    """The primary metric, then some that most people ask for."""
    known = next((row["metrics"] for row in facts.summary if row["metrics"]), {})
    beside = BESIDE_SPANS if "entity_f1" in known else BESIDE
    return [name for name in dict.fromkeys((facts.metric, *beside)) if name in known]


def _spread(found: tuple[float, float] | None, row: Summary) -> str:
    if found is None:
        return "failed" if row["failed"] and not row["finished"] else ""
    return f"{found[0]:.4f}" + ("" if row["finished"] == 1 else f" ± {found[1]:.4f}")


def _difference(facts: CompareFacts, row: Summary) -> str:
    place = {"objective": row["objective"], "encoder": row["encoder"], "metric": facts.metric}
    found = next((d for d in facts.differences if place.items() <= d.items()), None)
    return "" if found is None else _interval(found)


def _interval(found: Difference) -> str:
    bounded = abs(found["high"]) != float("inf")
    spread = f"[{found['low']:+.4f}, {found['high']:+.4f}]" if bounded else "one seed: no interval"
    return f"{found['mean']:+.4f} {spread}"


def _gigabytes(memory: float | None) -> str:
    return "" if memory is None else f"{memory / 1e9:.1f} GB"
