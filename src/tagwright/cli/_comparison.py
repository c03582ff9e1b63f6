"""Shows a comparison."""

from rich.table import Table

from tagwright.assemble.compare import Comparison
from tagwright.cli import _show

BESIDE = ("micro_f1", "macro_f1", "accuracy")  # the report has them all


def show_comparison(done: Comparison) -> None:
    """Mean ± sd of each objective, the paired interval on the primary metric, the verdict."""
    facts = done.facts
    table = Table(title=f"{facts.title} ({facts.split})", title_justify="left", title_style="bold")
    table.add_column("objective")
    shown = [name for name in dict.fromkeys((facts.metric, *BESIDE)) if name in facts.summary[0]["metrics"]][:2]
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(f"{facts.metric} − {facts.baseline}", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right")
    against = {d["objective"]: d for d in facts.differences if d["metric"] == facts.metric}
    for row in facts.summary:
        cells = [f"{row['metrics'][name][0]:.4f} ± {row['metrics'][name][1]:.4f}" for name in shown]
        found = against.get(row["objective"])
        interval = "" if found is None else f"{found['mean']:+.4f} [{found['low']:+.4f}, {found['high']:+.4f}]"
        times = [run["seconds"] for run in facts.rows if run["objective"] == row["objective"]]
        table.add_row(row["objective"], *cells, interval, f"{sum(times) / len(times):.1f}")
    _show.show(table)
    _show.say(facts.verdict)
    if done.report:
        _show.say(f"report: {done.report}")
