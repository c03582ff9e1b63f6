"""The report of a comparison: several objectives, several seeds, one split."""

import math

import numpy as np

from tagwright import toml
from tagwright.report import plots
from tagwright.report.facts import CompareFacts, Difference, Summary
from tagwright.report.page import Cell, Figure, Table, decimals, duration, metric_name, number, plural, render


def compare_report(facts: CompareFacts) -> str:
    """One self-contained HTML page: verdict, table, paired differences, single seeds, cost."""
    ranked = _ranked(facts)
    return render(
        "compare.html.j2",
        facts=facts,
        lead=_lead(facts, ranked),
        summary=_summary_table(facts, ranked),
        figures=_figures(facts, ranked),
        differences=_difference_table(facts) if facts.differences else None,
        runs=_run_table(facts),
        differing=differing(facts),
        settings=toml.dumps(facts.settings) if facts.settings else None,
    )


def differing(facts: CompareFacts) -> list[str]:
    """A sentence for each setting that is not the same for all objectives."""
    return [
        f"{name}: {', '.join(f'{value} ({objective})' for objective, value in values.items())}"
        for name, values in facts.differing.items()
    ]


def _lead(facts: CompareFacts, ranked: list[Summary]) -> str:
    seeds = len({row["seed"] for row in facts.rows})
    name = metric_name(facts.metric)
    return (
        f"{plural(len(ranked), 'objective')}, {plural(seeds, 'seed')} each, on one split; "
        f"compared by {name} on {facts.split} against {facts.baseline}."
    )


def _ranked(facts: CompareFacts) -> list[Summary]:
    """The summaries, best mean of the primary metric first, those without one last."""
    sign = 1.0 if facts.metric in facts.lower_is_better else -1.0

    def place(row: Summary) -> float:
        mean = row["metrics"].get(facts.metric, (math.nan, 0.0))[0]
        return math.inf if math.isnan(mean) else sign * mean

    return sorted(facts.summary, key=place)


def _metrics(facts: CompareFacts) -> list[str]:
    """The primary metric, then the others in the order they come."""
    return list(dict.fromkeys([facts.metric, *(name for row in facts.summary for name in row["metrics"])]))


def _summary_table(facts: CompareFacts, ranked: list[Summary]) -> Table:
    names = _metrics(facts)
    best = {name: _best(facts, name) for name in names}
    seconds = {row["objective"]: _mean_seconds(facts, row["objective"]) for row in ranked}
    slowest = max((s for s in seconds.values() if math.isfinite(s)), default=0.0) or 1.0
    rows = []
    for row in ranked:
        name = row["objective"]
        cells = [Cell(f"{name} (baseline)" if name == facts.baseline else name)]
        for metric in names:
            mean, spread = row["metrics"].get(metric, (math.nan, math.nan))
            cells.append(_spread(mean, spread, best=mean == best[metric]))
        share = seconds[name] / slowest if math.isfinite(seconds[name]) else 0.0
        cells.insert(2, Cell(duration(seconds[name]), _sortable(seconds[name]), share=share))
        rows.append(cells)
    columns = [("objective", ""), *((metric_name(n), "mean ± standard deviation over seeds") for n in names)]
    columns.insert(2, ("time", "mean seconds of a run"))
    return Table(columns=columns, rows=rows, sorted_by=1, ascending=facts.metric in facts.lower_is_better)


def _best(facts: CompareFacts, metric: str) -> float:
    means = np.array([row["metrics"].get(metric, (math.nan, 0.0))[0] for row in facts.summary], float)
    means = means[np.isfinite(means)]
    if len(means) < 2:  # alone is not best
        return math.nan
    return float(means.min() if metric in facts.lower_is_better else means.max())


def _spread(mean: float, spread: float, *, best: bool) -> Cell:
    if math.isnan(mean):
        return Cell("–", -math.inf)
    around = f" ± {spread:.{decimals(mean)}f}" if math.isfinite(spread) else ""
    return Cell(f"{number(mean)}{around}", float(mean), mark="best" if best else "")


def _mean_seconds(facts: CompareFacts, objective: str) -> float:
    seconds = [row["seconds"] for row in facts.rows if row["objective"] == objective]
    return float(np.mean(seconds)) if seconds else math.nan


def _sortable(value: float) -> float:
    """NaN cannot be sorted: it goes last."""
    return -math.inf if math.isnan(value) else float(value)


def _figures(facts: CompareFacts, ranked: list[Summary]) -> list[Figure]:
    """Paired differences (if any) and single seeds of the primary metric, objectives in the order of the table."""
    place = {row["objective"]: i for i, row in enumerate(ranked)}
    chosen = [d for d in facts.differences if d["metric"] == facts.metric and math.isfinite(d["mean"])]
    if chosen:
        # Against itself: nothing differs. With its row, the two plots show the objectives on the same lines.
        chosen.append(Difference(objective=facts.baseline, metric=facts.metric, mean=0, low=0, high=0, p_value=1))
    chosen.sort(key=lambda d: place.get(d["objective"], len(place)))
    name = metric_name(facts.metric)
    figures = []
    if chosen:
        svg = plots.forest(chosen, title=f"{name} minus that of {facts.baseline}")
        caption = f"Paired by seed, {facts.confidence:.0%} intervals. Filled: the interval excludes zero."
        figures.append(Figure(f"Better than {facts.baseline}?", svg, caption))
    if any(math.isfinite(row["metrics"].get(facts.metric, math.nan)) for row in facts.rows):
        svg = plots.seeds(facts.rows, [row["objective"] for row in ranked], facts.metric, title=name)
        figures.append(Figure("Every seed", svg, "A dot is a run, the stroke their mean."))
    return figures


def _difference_table(facts: CompareFacts) -> Table:
    columns = [
        ("objective", ""),
        ("metric", ""),
        ("difference", f"mean, minus {facts.baseline}"),
        ("interval", f"{facts.confidence:.0%}, paired by seed"),
        ("p", "chance of such a difference if there were none"),
    ]
    return Table(columns=columns, rows=[_difference(d) for d in facts.differences], sorted_by=None)


def _difference(row: Difference) -> list[Cell]:
    sure = row["low"] > 0 or row["high"] < 0
    return [
        Cell(row["objective"]),
        Cell(metric_name(row["metric"])),
        Cell(f"{row['mean']:+.4f}".replace("-", "−"), _sortable(row["mean"]), mark="best" if sure else ""),
        Cell(f"{row['low']:+.4f} to {row['high']:+.4f}".replace("-", "−"), _sortable(row["low"])),
        Cell(number(row["p_value"]), _sortable(row["p_value"])),
    ]


def _run_table(facts: CompareFacts) -> Table:
    names = _metrics(facts)
    rows = []
    for run in facts.rows:
        seconds, scores = run["seconds"], run["metrics"]
        cells = [Cell(run["objective"]), Cell(str(run["seed"]), run["seed"]), Cell(duration(seconds), seconds)]
        rows.append([*cells, *(Cell(number(scores.get(n)), _sortable(scores.get(n, math.nan))) for n in names)])
    columns = [("objective", ""), ("seed", ""), ("time", ""), *((metric_name(n), "") for n in names)]
    return Table(columns=columns, rows=rows, sorted_by=None)
