"""The primary metric of a comparison, a line for each objective under the name of its encoder, as
SVG.
"""

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from tagwright.reports.compare_facts import Difference, RunRow
from tagwright.reports.plots import (
    INK,
    MUTED,
    PALETTE,
    SURFACE,
    chart_of_rows,
    draw,
    load_altair,
)
from tagwright.reports.short_names import short_names

if TYPE_CHECKING:
    import altair

SURE = 0.05
MANY = 15  # lines, from which they stand closer
Lines = Mapping[str, Sequence[str]]  # encoder -> its objectives, from top to bottom


def forest(lines: Lines, differences: Sequence[Difference], *, title: str) -> str:
    """Each objective's paired difference with its interval, if that is bounded; filled where
    corrected p < 0.05.

    A line without a difference, or with one that is NaN, stays empty.
    """
    alt = load_altair()
    names = _named(lines)
    rows = [
        {"line": names[d["encoder"], d["objective"]], "sure": d["adjusted"] < SURE, **_span(d)}
        for d in differences
        if (d["encoder"], d["objective"]) in names and math.isfinite(d["mean"])
    ]
    signed = "datum.value == 0 ? '0' : format(datum.value, '+~r')"
    axis = alt.Axis(tickCount=5, labelExpr=signed, labelFlush=False)
    x = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(nice=True, zero=True, padding=10))
    base = chart_of_rows(alt).encode(y=_axis(alt, lines, names))
    zero = (
        alt.Chart(alt.Data(values=[{"low": 0}]))
        .mark_rule(color=MUTED, strokeDash=[4, 4])
        .encode(x=x)
    )
    interval = base.mark_rule(color=PALETTE[0], strokeWidth=2).encode(x=x, x2=alt.X2("high:Q"))
    fill = alt.condition("datum.sure", alt.value(PALETTE[0]), alt.value(SURFACE))
    mean = base.mark_point(color=PALETTE[0], size=90, strokeWidth=2, opacity=1)
    return draw(
        alt.layer(zero, interval, mean.encode(x=alt.X("mean:Q"), fill=fill)),
        rows,
        height=height_of(lines),
    )


def seeds(lines: Lines, runs: Sequence[RunRow], metric: str, *, title: str) -> str:
    """A dot for every run and a stroke at their mean; runs that lack the metric are skipped."""
    alt = load_altair()
    names = _named(lines)
    rows = [
        {"line": names[run["encoder"], run["objective"]], "value": float(run["metrics"][metric])}
        for run in runs
        if (run["encoder"], run["objective"]) in names
        and math.isfinite(run["metrics"].get(metric, math.nan))
    ]
    scale = alt.Scale(zero=False, nice=True, padding=8)
    base = chart_of_rows(alt).encode(y=_axis(alt, lines, names))
    dots = base.mark_circle(color=PALETTE[0], size=60, opacity=0.55)
    dots = dots.encode(
        x=alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5, labelFlush=False))
    )
    mean = base.mark_tick(color=PALETTE[1], thickness=3, size=18, opacity=1)
    mean = mean.encode(x=alt.X("mean(value):Q", title=title))
    return draw(alt.layer(dots, mean), rows, height=height_of(lines))


def _span(row: Difference) -> dict[str, float]:
    """Mean and ends; without bounds there is nothing to draw beside the mean."""
    mean, low, high = float(row["mean"]), float(row["low"]), float(row["high"])
    bounded = math.isfinite(low) and math.isfinite(high)
    return {"mean": mean, "low": low if bounded else mean, "high": high if bounded else mean}


def _named(lines: Lines) -> dict[tuple[str, str], str]:
    """(encoder, objective) -> what tells its line from all others, then a line break and the name
    to be read.
    """
    return {
        (encoder, objective): f"{group}\n{name}"
        for group, (encoder, objectives) in enumerate(lines.items())
        for objective, name in zip(objectives, short_names(objectives))
    }


def _axis(alt: ModuleType, lines: Lines, names: Mapping[tuple[str, str], str]) -> "altair.Y":
    """Several encoders are headings on lines of their own: what tells them begins with #."""
    order = []
    for group, (encoder, objectives) in enumerate(lines.items()):
        order += [f"#{group}\n{short_names([encoder])[0]}"] if len(lines) > 1 else []
        order += [names[encoder, objective] for objective in objectives]
    head = "substring(datum.value, 0, 1) == '#'"
    axis = alt.Axis(
        title=None,
        grid=False,
        ticks=False,
        labelLimit=0,
        labelOverlap=False,
        labelPadding=8,
        labelExpr="slice(datum.value, indexof(datum.value, '\\n') + 1)",
        labelFontWeight={"condition": {"test": head, "value": 600}, "value": 400},
        labelColor={"condition": {"test": head, "value": INK}, "value": MUTED},
    )
    return alt.Y("line:N", sort=None, axis=axis, scale=alt.Scale(domain=order))


def height_of(lines: Lines) -> int:
    """How high the plot of these lines is."""
    count = sum(len(objectives) + (len(lines) > 1) for objectives in lines.values())
    return (36 if count < MANY else 24) * count + 70
