"""Numbers -> plots, as SVG strings of equal width."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from tagwright.reports.compare_facts import BandScore
from tagwright.reports.draw import (
    HEIGHT,
    INK,
    MUTED,
    PALETTE,
    chart_of_rows,
    colors,
    decades,
    draw,
    load_altair,
    names_axis,
    short_names,
    thin,
)
from tagwright.reports.facts import Band, ReliabilityBins, Values
from tagwright.reports.page import plural

if TYPE_CHECKING:
    import altair

MOST_BARS = 20  # beyond this, names are unreadable and a curve over the rank says more
MOST_POINTS = 600


def bars(names: Sequence[str], values: Values, *, title: str) -> str:
    """Horizontal bars in the given order, each with its name and value."""
    alt = load_altair()
    rows = [
        {"name": name, "value": float(value)} for name, value in zip(short_names(names), values)
    ]
    axis = alt.Axis(tickCount=4, format="~s")
    base = chart_of_rows(alt).encode(
        y=names_axis(alt),
        x=alt.X("value:Q", title=title, axis=axis, scale=alt.Scale(zero=True, padding=24)),
    )
    drawn = base.mark_bar(color=PALETTE[0])
    text = base.mark_text(align="left", dx=4, color=MUTED, fontSize=12).encode(
        text=alt.Text("value:Q", format=",~r")
    )
    return draw(alt.layer(drawn, text), rows, height=24 * len(rows) + 60)


def long_tail(names: Sequence[str], counts: Values, *, title: str = "texts in train") -> str:
    """How often each label comes, most frequent first: named bars for few labels, a curve over the
    rank for many.
    """
    order = np.argsort(-np.asarray(counts, float), kind="stable")
    ranked = np.maximum(np.asarray(counts, float)[order], 1.0)
    if len(ranked) <= MOST_BARS:
        return bars([names[i] for i in order], np.asarray(counts, float)[order], title=title)
    alt = load_altair()
    axis, scale = decades(alt, ranked)
    rows = [
        {"rank": int(i) + 1, "count": ranked[i], "floor": scale.domain[0]}
        for i in thin(len(ranked), MOST_POINTS)
    ]
    ranks = alt.Scale(domain=[1, len(ranked)], nice=False)
    chart = chart_of_rows(alt).encode(
        x=alt.X(
            "rank:Q", title="labels, most frequent first", scale=ranks, axis=alt.Axis(tickCount=6)
        ),
        y=alt.Y("count:Q", title=title, scale=scale, axis=axis),
        y2="floor:Q",
    )
    line = {"color": PALETTE[0], "strokeWidth": 2, "opacity": 1}
    return draw(chart.mark_area(color=PALETTE[0], opacity=0.15, line=line), rows)


def lines(
    series: Mapping[str, tuple[Values, Values]],
    *,
    x_title: str,
    y_title: str,
    rule: float | None = None,
    marked: tuple[float, float, str] | None = None,
    best: Mapping[str, tuple[float, float]] | None = None,
) -> str:
    """One line for each named (x, y); points without a finite y are skipped.

    `rule` is a vertical line; `marked` is (x, y, words) of a ring; `best` has the (x, y) of a ring
    for some of several lines, in their colors.
    """
    alt = load_altair()
    rows = [row for name, (x, y) in series.items() for row in _points(name, x, y)]
    y_scale = alt.Scale(zero=False, nice=True)
    chart = chart_of_rows(alt).encode(
        x=alt.X(
            "x:Q",
            title=x_title,
            axis=alt.Axis(tickCount=6),
            scale=alt.Scale(zero=False, nice=False),
        ),
        y=alt.Y("y:Q", title=y_title, axis=alt.Axis(tickCount=5), scale=y_scale),
    )
    if len(series) > 1:
        chart = chart.encode(color=colors(alt, list(series)))
    point: bool | dict[str, object] = False
    if len(rows) <= 40 * len(series):
        point = {"size": 36, "filled": True}
        if len(series) == 1:
            point["color"] = PALETTE[0]
    layers = [chart.mark_line(color=PALETTE[0], strokeWidth=2, point=point)]
    if rule is not None:
        layers.insert(0, _rule(alt, rule))
    if marked is not None:
        layers += _mark(alt, marked, rows)
    if best and len(series) > 1:
        rings = alt.Chart(
            alt.Data(values=[{"name": name, "x": x, "y": y} for name, (x, y) in best.items()])
        )
        rings = rings.encode(x="x:Q", y="y:Q", color=colors(alt, list(series)))
        layers.append(rings.mark_point(size=170, strokeWidth=2.5, opacity=1))
    return draw(alt.layer(*layers), rows)


def scatter(x: Values, y: Values, *, x_title: str, y_title: str) -> str:
    """One dot a label, `x` on a logarithmic axis (0 counts as 1); many are thinned along x, NaN is
    skipped.
    """
    alt = load_altair()
    horizontal, vertical = np.maximum(np.asarray(x, float), 1.0), np.asarray(y, float)
    order = np.argsort(horizontal, kind="stable")
    order = order[np.isfinite(vertical[order])]
    kept = order[thin(len(order), MOST_POINTS)]
    rows = [{"x": horizontal[i], "y": vertical[i]} for i in kept]
    axis, scale = decades(alt, horizontal)
    chart = chart_of_rows(alt).encode(
        x=alt.X("x:Q", title=x_title, scale=scale, axis=axis),
        y=alt.Y(
            "y:Q", title=y_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=5)
        ),
    )
    size = 50 if len(rows) < 150 else 26
    return draw(chart.mark_circle(color=PALETTE[0], size=size, opacity=0.55), rows)


def ranges(names: Sequence[str], spans: Sequence[Mapping[str, float]], *, title: str) -> str:
    """A bar from the tenth to the ninetieth percentile of each name, with a stroke and a number at
    the median.
    """
    alt = load_altair()
    rows = [
        {
            "name": name,
            "low": float(span["tenth"]),
            "middle": float(span["median"]),
            "high": float(span["ninetieth"]),
        }
        for name, span in zip(short_names(names), spans)
    ]
    x = alt.X(
        "low:Q", title=title, axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=True, nice=True)
    )
    base = chart_of_rows(alt).encode(y=names_axis(alt))
    bar = base.mark_bar(color=PALETTE[0], opacity=0.3, size=16).encode(x=x, x2="high:Q")
    middle = base.mark_tick(color=PALETTE[0], thickness=3, size=22, opacity=1).encode(x="middle:Q")
    label = alt.Text("middle:Q", format=",~r")
    text = base.mark_text(align="left", dx=6, color=INK, fontSize=12).encode(
        x="middle:Q", text=label
    )
    return draw(alt.layer(bar, middle, text), rows, height=36 * len(rows) + 70)


def band_scores(bands: Sequence[Band]) -> str:
    """Macro- and micro-F1 of the frequent, the middling and the rare labels; a NaN score has no
    bar.
    """
    alt = load_altair()
    rows = [
        {"band": f"{band['band']}\n{band_span(band)}", "name": name, "value": float(value)}
        for band in bands
        for name, value in (("macro-F1", band["macro_f1"]), ("micro-F1", band["micro_f1"]))
        if band["labels"] and np.isfinite(value)
    ]
    axis = alt.Axis(title=None, grid=False, labelLimit=0, labelExpr="split(datum.label, '\\n')")
    base = chart_of_rows(alt).encode(
        y=alt.Y("band:N", sort=None, axis=axis, scale=alt.Scale(paddingInner=0.35)),
        yOffset=alt.YOffset("name:N", sort=["macro-F1", "micro-F1"]),
        x=alt.X("value:Q", title="F1", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5)),
    )
    drawn = base.mark_bar().encode(color=colors(alt, ["macro-F1", "micro-F1"]))
    text = base.mark_text(align="left", dx=4, color=MUTED, fontSize=12).encode(
        text=alt.Text("value:Q", format=".3f")
    )
    return draw(alt.layer(drawn, text), rows, height=max(HEIGHT, 70 * len(bands) + 70))


def band_span(band: Band | BandScore) -> str:
    """The second and third line under a band's name: how many labels it holds, and how frequent
    they are.
    """
    counts = dict.fromkeys([band["from_count"], band["to_count"]])
    return f"{plural(band['labels'], 'label')}\n{'–'.join(f'{count:,}' for count in counts)} texts"


def amounts(names: Sequence[str], true: Values, predicted: Values, *, title: str) -> str:
    """Two bars for each name, in the given order: how many there are, and how many were
    predicted.
    """
    alt = load_altair()
    kinds, short = ("true", "predicted"), short_names(names)
    rows = [
        {"name": kind, "of": name, "value": float(value)}
        for kind, values in zip(kinds, (true, predicted))
        for name, value in zip(short, values)
    ]
    axis = alt.Axis(title=None, grid=False, labelLimit=0, labelOverlap=False)
    base = chart_of_rows(alt).encode(
        y=alt.Y("of:N", sort=None, axis=axis, scale=alt.Scale(paddingInner=0.3)),
        yOffset=alt.YOffset("name:N", sort=list(kinds)),
        x=alt.X(
            "value:Q",
            title=title,
            axis=alt.Axis(tickCount=4, format="~s"),
            scale=alt.Scale(zero=True, padding=24),
        ),
    )
    drawn = base.mark_bar().encode(color=colors(alt, list(kinds)))
    text = base.mark_text(align="left", dx=4, color=MUTED, fontSize=12).encode(
        text=alt.Text("value:Q", format=",~r")
    )
    return draw(alt.layer(drawn, text), rows, height=40 * len(short) + 90)


def reliability(calibration: ReliabilityBins) -> str:
    """Predicted probability against the share that was right, area by number of decisions; empty
    bins are skipped.
    """
    alt = load_altair()
    triples = zip(calibration["centers"], calibration["observed"], calibration["counts"])
    rows = [
        {"x": float(x), "y": float(y), "count": float(n)}
        for x, y, n in triples
        if n > 0 and np.isfinite(y)
    ]
    unit = alt.Scale(domain=[0, 1])
    diagonal = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color=MUTED, strokeDash=[4, 4]
    )
    dots = chart_of_rows(alt).mark_circle(color=PALETTE[0], opacity=0.85)
    dots = dots.encode(
        size=alt.Size("count:Q", scale=alt.Scale(type="sqrt", range=[30, 400]), legend=None)
    )
    line = chart_of_rows(alt).mark_line(color=PALETTE[0], strokeWidth=1.5)
    position = {
        "x": alt.X("x:Q", title="predicted probability", scale=unit, axis=alt.Axis(tickCount=5)),
        "y": alt.Y("y:Q", title="share that was right", scale=unit, axis=alt.Axis(tickCount=5)),
    }
    layers = [layer.encode(**position) for layer in (diagonal, line, dots)]
    return draw(alt.layer(*layers), rows, height=290)


class Point(TypedDict):
    """A point of a line."""

    name: str
    x: float
    y: float


def _points(name: str, x: Values, y: Values) -> list[Point]:
    kept = np.flatnonzero(np.isfinite(np.asarray(y, float)))
    return [
        {"name": name, "x": float(x[i]), "y": float(y[i])}
        for i in kept[thin(len(kept), MOST_POINTS)]
    ]


def _rule(alt: ModuleType, x: float) -> "altair.Chart":
    return (
        alt.Chart(alt.Data(values=[{"x": x}]))
        .mark_rule(color=MUTED, strokeDash=[4, 4])
        .encode(x="x:Q")
    )


def _mark(
    alt: ModuleType, marked: tuple[float, float, str], rows: Sequence[Point]
) -> "list[altair.Chart]":
    """A ring with its words above, turned away from the nearer end of the axis."""
    x, y, words = marked
    ends = [row["x"] for row in rows]
    place = (x - min(ends)) / ((max(ends) - min(ends)) or 1)
    align = "right" if place > 0.85 else "center"
    if place < 0.15:
        align = "left"
    base = alt.Chart(alt.Data(values=[{"x": x, "y": y, "words": words}])).encode(x="x:Q", y="y:Q")
    ring = base.mark_point(color=PALETTE[1], size=150, strokeWidth=2.5, opacity=1)
    text = base.mark_text(align=align, dy=-18, color=PALETTE[1], fontSize=13, fontWeight=600)
    return [ring, text.encode(text="words:N")]
