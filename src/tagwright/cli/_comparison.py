"""Shows a comparison."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from tagwright.assemble.compare import Comparison
from tagwright.cli import _show
from tagwright.report.compare import differing

WIDE = 100  # columns of a terminal that has room for two metrics
BESIDE = ("micro_f1", "macro_f1", "accuracy")  # the report has them all
BESIDE_SPANS = ("macro_f1", "macro_f2")  # micro F1 of tokens is their accuracy, high wherever most are outside


def show_comparison(done: Comparison) -> None:
    """Mean ± sd of each objective, the paired interval on the primary metric, the verdict."""
    facts = done.facts
    table = Table(title=f"{facts.title} ({facts.split})", title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("objective", no_wrap=True)
    beside = BESIDE_SPANS if "entity_f1" in facts.summary[0]["metrics"] else BESIDE
    shown = [name for name in dict.fromkeys((facts.metric, *beside)) if name in facts.summary[0]["metrics"]]
    shown = shown[: 2 if _show.results_console.width >= WIDE else 1]
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(f"{facts.metric}\n− {facts.baseline}", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    against = {d["objective"]: d for d in facts.differences if d["metric"] == facts.metric}
    for row in facts.summary:
        times = [run["seconds"] for run in facts.rows if run["objective"] == row["objective"]]
        alone = len(times) == 1
        cells = [f"{mean:.4f}" + ("" if alone else f" ± {sd:.4f}") for mean, sd in (row["metrics"][n] for n in shown)]
        found = against.get(row["objective"])
        interval = "" if found is None else _interval(found, alone=alone)
        table.add_row(row["objective"], *cells, interval, f"{sum(times) / len(times):.1f}")
    _show.show(table)
    for sentence in differing(facts):
        _show.result(sentence)
    _show.result(facts.verdict)
    if done.report:
        _show.say(f"report: {done.report}")


def _interval(found: Mapping[str, Any], *, alone: bool) -> str:
    spread = "one seed: no interval" if alone else f"[{found['low']:+.4f}, {found['high']:+.4f}]"
    return f"{found['mean']:+.4f} {spread}"
