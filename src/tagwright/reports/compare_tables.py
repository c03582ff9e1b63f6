"""The tables of a comparison."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from tagwright.arrays import Floats
from tagwright.reports.compare_facts import (
    CompareFacts,
    Difference,
    Exchange,
    Gains,
    RunRow,
    Summary,
)
from tagwright.reports.objectives import Key, metrics_of, ranked
from tagwright.reports.page import (
    Cell,
    Table,
    decimals,
    duration,
    excerpt,
    metric_name,
    number,
    size,
)
from tagwright.reports.short_names import short_names

MOST_LABELS = 300
MOST_PAIRS = 100
SURE = 0.05
UNTUNED = ("micro_f1", "macro_f1")
NOT_FITTED = "without fitted thresholds: mean ± standard deviation over seeds"


def summary_table(facts: CompareFacts) -> Table:
    """A row for each objective on each encoder, best first; the best mean of a column is marked in
    every encoder.
    """
    rows, names, untuned = ranked(facts), metrics_of(facts), untuned_metrics(facts)
    columns = [("objective", ""), *_encoder_column(facts)]
    cells = [
        [_objective(facts, row["objective"]), *_encoder(facts, row["encoder"])] for row in rows
    ]
    for place, name in enumerate(names):
        columns.append((metric_name(name), "mean ± standard deviation over seeds"))
        _extend(cells, _column(facts, rows, name, fitted=True))
        if name in untuned:
            columns.append((f"{metric_name(name)}, untuned", NOT_FITTED))
            _extend(cells, _column(facts, rows, name, fitted=False))
        if place == 0:
            for title, line, column in _costs(rows):
                columns.append((title, line))
                _extend(cells, column)
    sorted_by = 1 if len(facts.encoders) < 2 else None
    return Table(
        columns=columns,
        rows=cells,
        sorted_by=sorted_by,
        ascending=facts.metric in facts.lower_is_better,
    )


def untuned_metrics(facts: CompareFacts) -> list[str]:
    """The metrics of which it is also known what they are without fitted thresholds."""
    known = {name for row in facts.summary for name in row["untuned"]}
    return [name for name in dict.fromkeys((facts.metric, *UNTUNED)) if name in known]


def wins_table(facts: CompareFacts) -> Table:
    """How many of the games each objective won, by metric; most wins first."""
    names = list(dict.fromkeys(name for row in facts.wins for name in row["metrics"]))
    names.sort(key=lambda name: name != facts.metric)
    total = {row["objective"]: sum(row["metrics"].values()) for row in facts.wins}
    best = {name: max(row["metrics"].get(name, 0) for row in facts.wins) for name in names}
    most = max(total.values(), default=0)
    rows = []
    for row in sorted(facts.wins, key=lambda row: -total[row["objective"]]):
        own = total[row["objective"]]
        cells = [
            _objective(facts, row["objective"]),
            Cell(f"{own:,}", own, mark="best" if own == most > 0 else ""),
        ]
        for name in names:
            won = row["metrics"].get(name, 0)
            mark = won == best[name] > 0
            cells.append(
                Cell(str(won), won, mark="best" if mark else "", heat=won / max(facts.games, 1))
            )
        rows.append(cells)
    columns = [
        ("objective", ""),
        ("total", "wins in all metrics"),
        *((metric_name(name), "") for name in names),
    ]
    return Table(columns=columns, rows=rows, sorted_by=1)


def label_table(facts: CompareFacts, encoder: str, shown: str, keys: Sequence[Key]) -> Table:
    """F1 of every label: the baseline's, and by how much each objective differs; largest difference
    of `shown` first.

    Of many labels the first 300, of many objectives those that have a color, `shown` before the
    others.
    """
    found = {row["objective"]: row for row in facts.gains if row["encoder"] == encoder}
    base = np.asarray(found[facts.baseline]["f1"], float)
    others = [
        shown,
        *(
            key.name
            for key in keys
            if key.name not in (shown, facts.baseline) and key.name in found
        ),
    ]
    differences = {name: gain_of(found[name]) for name in others}
    size = np.nan_to_num(np.abs(differences[shown]), nan=-1.0)
    rows = []
    for i in np.argsort(-size, kind="stable")[:MOST_LABELS].tolist():
        count = int(facts.label_counts[i])
        cells = [Cell(facts.label_names[i]), Cell(number(count), count), _of_label(float(base[i]))]
        rows.append([*cells, *(_change(float(differences[name][i])) for name in others)])
    heads = short_names([facts.baseline, *others])
    columns = [
        ("label", ""),
        ("train", "texts of train that have the label"),
        (heads[0], f"F1 of {facts.baseline}"),
    ]
    columns += [
        (f"Δ {head}", f"F1 of {name} minus that of {facts.baseline}")
        for head, name in zip(heads[1:], others)
    ]
    return Table(columns=columns, rows=rows, sorted_by=None, left_out=len(base) - len(rows))


def gain_of(row: Gains) -> Floats:
    """F1 of every label minus that of the baseline with the same seeds, (L,)."""
    return np.asarray(row["f1"], float) - np.asarray(row["base"], float)


def error_table(facts: CompareFacts) -> Table:
    """Expected calibration error of every objective on every encoder; the lowest of each encoder is
    marked.
    """
    found = {(row["objective"], row["encoder"]): row["error"] for row in facts.reliability}
    encoders = [name for name in facts.encoders if any(encoder == name for _, encoder in found)]
    lowest = {
        e: min((v for (_, own), v in found.items() if own == e and v == v), default=math.nan)
        for e in encoders
    }
    rows = [
        [
            _objective(facts, name),
            *(_error(found.get((name, e), math.nan), lowest[e]) for e in encoders),
        ]
        for name in dict.fromkeys(name for name, _ in found)
    ]
    heads = encoders if len(encoders) > 1 else ["calibration error"]
    line = "how far probabilities are from the share that was right, on average; mean over seeds"
    return Table(
        columns=[("objective", ""), *((head, line) for head in heads)], rows=rows, sorted_by=None
    )


def exchange_table(pairs: Sequence[Exchange], *, before: str, after: str) -> Table:
    """Confused pairs, those first whose number changed most."""
    ordered = sorted(pairs, key=lambda pair: -abs(pair["after"] - pair["before"]))
    rows = []
    for pair in ordered[:MOST_PAIRS]:
        change = pair["after"] - pair["before"]
        numbers = [Cell(_mean(pair[name]), float(pair[name])) for name in ("before", "after")]
        mark: Literal["", "alert", "best"] = "alert" if change > 0 else ""
        shown = Cell(_signed(change, 1), change, mark="best" if change < 0 else mark)
        rows.append([Cell(pair["true"]), Cell(pair["chosen"]), *numbers, shown])
    heads = short_names([before, after])
    columns = [
        ("true label", ""),
        ("taken for", "given instead of the true label"),
        (heads[0], f"texts, mean over seeds of {before}"),
        (heads[1], f"texts, mean over seeds of {after}"),
        ("change", f"{after} minus {before}; fewer is better"),
    ]
    return Table(columns=columns, rows=rows, sorted_by=None, left_out=len(ordered) - len(rows))


def difference_table(facts: CompareFacts) -> Table:
    """Every metric's difference from the baseline; those of the primary one are marked where
    corrected p < 0.05.
    """
    columns = [
        ("objective", ""),
        *_encoder_column(facts),
        ("metric", ""),
        ("difference", f"mean, minus {facts.baseline}"),
        ("interval", f"{facts.confidence:.0%}, paired by seed"),
        ("over", "what the interval speaks of: other seeds, or other seeds and other texts"),
        ("p", "chance of such a difference if there were none"),
        ("p, corrected", f"after Holm's correction, of {metric_name(facts.metric)} alone"),
    ]
    return Table(
        columns=columns, rows=[_difference(facts, d) for d in facts.differences], sorted_by=None
    )


def run_table(facts: CompareFacts) -> Table:
    """Every run, as given; one that failed says so."""
    names, memory = metrics_of(facts), any(run["memory"] is not None for run in facts.rows)
    failed, pages = any(run["failed"] for run in facts.rows), any(run["page"] for run in facts.rows)
    columns = [("objective", ""), *_encoder_column(facts), ("seed", "")]
    columns += [("report", "of this run")] * pages + [("failed", "the error")] * failed
    columns += (
        [("time", "")]
        + [("memory", "at its peak")] * memory
        + [(metric_name(name), "") for name in names]
    )
    rows = []
    for run in facts.rows:
        cells = [
            Cell(run["objective"]),
            *_encoder(facts, run["encoder"]),
            Cell(str(run["seed"]), run["seed"]),
        ]
        cells += [Cell("open" if run["page"] else "", page=run["page"])] * pages
        cells += [Cell(excerpt(run["failed"], 60), mark="alert")] * failed
        rows.append(
            [*cells, *_cost(run, memory), *(_score(run["metrics"].get(n, math.nan)) for n in names)]
        )
    return Table(columns=columns, rows=rows, sorted_by=None)


def interval_over(facts: CompareFacts, row: Difference) -> str:
    """What an interval speaks of: one seed cannot speak of others."""
    if not row["over_texts"]:
        return "seeds"
    return "texts" if len({run["seed"] for run in facts.rows}) == 1 else "seeds and texts"


def _encoder_column(facts: CompareFacts) -> list[tuple[str, str]]:
    """One encoder needs no column."""
    return [("encoder", "")] if len(facts.encoders) > 1 else []


def _encoder(facts: CompareFacts, name: str) -> list[Cell]:
    return [Cell(name)] if len(facts.encoders) > 1 else []


def _objective(facts: CompareFacts, name: str) -> Cell:
    return Cell(f"{name} (baseline)" if name == facts.baseline else name)


def _extend(cells: Sequence[list[Cell]], column: Sequence[Cell]) -> None:
    for row, cell in zip(cells, column):
        row.append(cell)


def _column(
    facts: CompareFacts, rows: Sequence[Summary], metric: str, *, fitted: bool
) -> list[Cell]:
    """Mean ± deviation of every row; alone on its encoder, none is best."""
    found = [
        (row["metrics"] if fitted else row["untuned"]).get(metric, (math.nan, math.nan))
        for row in rows
    ]
    sign = -1.0 if metric in facts.lower_is_better else 1.0
    by_encoder: dict[str, list[float]] = {}
    for row, (mean, _) in zip(rows, found):
        if math.isfinite(mean):
            by_encoder.setdefault(row["encoder"], []).append(sign * mean)
    best = {encoder: sign * max(means) for encoder, means in by_encoder.items() if len(means) > 1}
    return [
        _mean_and_deviation(row, mean, deviation, best=mean == best.get(row["encoder"]))
        for row, (mean, deviation) in zip(rows, found)
    ]


def _mean_and_deviation(row: Summary, mean: float, deviation: float, *, best: bool) -> Cell:
    if math.isnan(mean):
        return Cell(
            "–" if row["finished"] else "failed", math.nan, mark="" if row["finished"] else "alert"
        )
    around = (
        f" ± {deviation:.{decimals(mean)}f}"
        if row["finished"] > 1 and math.isfinite(deviation)
        else ""
    )
    return Cell(f"{number(mean)}{around}", float(mean), mark="best" if best else "")


def _costs(rows: Sequence[Summary]) -> list[tuple[str, str, list[Cell]]]:
    """Columns on runs that failed, time and memory, where there is something to tell."""
    result = []
    if any(row["failed"] for row in rows):
        result.append(("runs", "that ended well, of all", [_finished(row) for row in rows]))
    seconds = [float(row["seconds"]) if row["finished"] else math.nan for row in rows]
    result.append(("time", "mean of a run", [Cell(duration(s), s) for s in seconds]))
    if any(row["memory"] is not None for row in rows):
        memory = [
            Cell(size(row["memory"]), math.nan if row["memory"] is None else row["memory"])
            for row in rows
        ]
        result.append(("memory", "at its peak", memory))
    return result


def _finished(row: Summary) -> Cell:
    whole = row["finished"] + row["failed"]
    text = f"{row['finished']} of {whole}" if row["failed"] else str(whole)
    return Cell(text, row["finished"], mark="alert" if row["failed"] else "")


def _cost(run: RunRow, memory: bool) -> list[Cell]:
    seconds = math.nan if run["failed"] else float(run["seconds"])
    peak = run["memory"]
    return [
        Cell(duration(seconds), seconds),
        *[Cell(size(peak), math.nan if peak is None else peak)] * memory,
    ]


def _difference(facts: CompareFacts, row: Difference) -> list[Cell]:
    bounded = math.isfinite(row["low"]) and math.isfinite(row["high"])
    interval = f"{_signed(row['low'], 4)} to {_signed(row['high'], 4)}" if bounded else "–"
    return [
        Cell(row["objective"]),
        *_encoder(facts, row["encoder"]),
        Cell(metric_name(row["metric"])),
        Cell(
            _signed(row["mean"], 4),
            float(row["mean"]),
            mark="best" if row["adjusted"] < SURE else "",
        ),
        Cell(interval, float(row["low"]) if bounded else math.nan),
        Cell(interval_over(facts, row) if bounded else "–"),
        *(Cell(_chance(row[name]), float(row[name])) for name in ("p_value", "adjusted")),
    ]


def _chance(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else number(float(value))


def _score(value: float) -> Cell:
    return Cell(number(value), float(value))


def _of_label(value: float) -> Cell:
    return Cell("–" if math.isnan(value) else f"{value:.3f}", value)


def _change(value: float) -> Cell:
    return Cell(_signed(value, 3), value)


def _error(value: float, lowest: float) -> Cell:
    return Cell(number(value), float(value), mark="best" if value == lowest else "")


def _signed(value: float, digits: int) -> str:
    if math.isnan(value):
        return "–"
    rounded = round(float(value), digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


def _mean(value: float) -> str:
    """A mean over seeds of a count: whole where it is."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
