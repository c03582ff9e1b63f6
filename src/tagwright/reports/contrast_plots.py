"""Several objectives in one plot, as SVG: each has its color, which the page's legend tells."""

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from tagwright.arrays import Floats, Numbers
from tagwright.reports.compare_facts import BandScore, Sweep
from tagwright.reports.facts import ReliabilityBins, Values
from tagwright.reports.objectives import Key
from tagwright.reports.plots import (
    HEIGHT,
    INK,
    MUTED,
    PALETTE,
    band_span,
    chart_of_rows,
    draw,
    load_altair,
    names_axis,
    thin,
)
from tagwright.reports.short_names import short_names

if TYPE_CHECKING:
    import altair

MOST_POINTS = 150  # of a line
DASHES = [5, 3]
BROKEN = "split(datum.label, '\\n')"
SIGNED = "datum.value == 0 ? '0' : format(datum.value, '+~r')"
WIDE = 30  # from this ratio of the largest to the smallest value on, an axis is logarithmic


def bands(scores: Sequence[BandScore], keys: Sequence[Key]) -> str:
    """Macro-F1 of frequent to rare labels: a dot an objective, with a stroke as long as its spread
    to both sides.
    """
    alt = load_altair()
    place = {key.name: i for i, key in enumerate(keys)}
    rows = [
        {"band": f"{row['band']}\n{band_span(row)}", **_spread(row), **own}
        for row in scores
        if row["objective"] in place and math.isfinite(row["macro_f1"])
        for own in [
            {"place": place[row["objective"]], "color": keys[place[row["objective"]]].color}
        ]
    ]
    axis = alt.Axis(
        title=None, grid=False, labelLimit=0, labelOverlap=False, labelExpr=BROKEN, labelOffset=-14
    )
    base = chart_of_rows(alt).encode(
        y=alt.Y("band:N", sort=None, axis=axis, scale=alt.Scale(paddingInner=0.3)),
        yOffset=alt.YOffset("place:O", sort="ascending"),
        color=alt.Color("color:N", scale=None),
    )
    axis = alt.Axis(tickCount=5, labelFlush=False)
    x = alt.X("low:Q", title="macro-F1", scale=alt.Scale(zero=False, nice=True), axis=axis)
    spread = base.mark_rule(strokeWidth=2, opacity=0.6).encode(x=x, x2=alt.X2("high:Q"))
    dots = base.mark_circle(size=70, opacity=1).encode(x=alt.X("mean:Q"))
    count = len({row["band"] for row in rows})
    return draw(
        alt.layer(spread, dots), rows, height=max(HEIGHT, max(70, 13 * len(keys) + 24) * count + 50)
    )


def gains(names: Sequence[str], differences: Values, spreads: Values, *, title: str) -> str:
    """A bar a label in the given order, right of zero or left of it, with a stroke as long as its
    spread.
    """
    alt = load_altair()
    rows = [
        {
            "name": name,
            "value": value,
            "low": value - spread,
            "high": value + spread,
            "color": _side(value),
        }
        for name, value, spread in zip(
            short_names(names), map(float, differences), map(_known, spreads)
        )
    ]
    axis = alt.Axis(tickCount=5, labelExpr=SIGNED, labelFlush=False)
    x = alt.X("value:Q", title=title, axis=axis, scale=alt.Scale(zero=True, nice=True))
    base = chart_of_rows(alt).encode(y=names_axis(alt))
    bars = base.mark_bar(size=13).encode(x=x, color=alt.Color("color:N", scale=None))
    strokes = base.mark_rule(color=INK, opacity=0.55, strokeWidth=1.2).encode(
        x=alt.X("low:Q"), x2=alt.X2("high:Q")
    )
    return draw(alt.layer(bars, strokes), rows, height=20 * len(rows) + 60)


def all_gains(differences: Values, *, title: str) -> str:
    """Every label's difference, largest first, as one curve over the rank."""
    alt = load_altair()
    ordered = np.sort(np.asarray(differences, float))[::-1]
    rows = [
        {"rank": int(i) + 1, "value": float(ordered[i]), "color": _side(ordered[i])}
        for i in thin(len(ordered), 4 * MOST_POINTS)
    ]
    scale = alt.Scale(domain=[1, max(len(ordered), 2)], nice=False)
    axis = alt.Axis(tickCount=5, labelExpr=SIGNED, labelFlush=False)
    base = chart_of_rows(alt).encode(
        x=alt.X(
            "rank:Q", title="labels, largest gain first", scale=scale, axis=alt.Axis(tickCount=6)
        ),
        y=alt.Y("value:Q", title=title, axis=axis, scale=alt.Scale(zero=True, nice=True)),
        color=alt.Color("color:N", scale=None),
    )
    zero = (
        alt.Chart(alt.Data(values=[{"value": 0}])).mark_rule(color=MUTED).encode(y=alt.Y("value:Q"))
    )
    return draw(
        alt.layer(zero, base.mark_area(opacity=0.18), base.mark_line(strokeWidth=2)),
        rows,
        height=300,
    )


def sweep(
    sweeps: Sequence[Sweep], keys: Sequence[Key], *, title: str, rule: float | None = None
) -> str:
    """A line with its spread for each objective over the values of one setting; `rule` is the
    baseline's score.
    """
    alt = load_altair()
    color = {key.name: key.color for key in keys}
    rows = [
        {
            "name": i,
            "color": color[found["objective"]],
            "x": float(x),
            "y": float(y),
            "low": y - s,
            "high": y + s,
        }
        for i, found in enumerate(sweeps)
        for x, y, s in zip(
            found["values"], map(float, found["means"]), map(_known, found["spreads"])
        )
        if math.isfinite(y)
    ]
    axis, scale = _axis(alt, [float(x) for found in sweeps for x in found["values"]], every=True)
    vertical = alt.Scale(zero=False, nice=True)
    base = chart_of_rows(alt).encode(
        x=alt.X("x:Q", title=sweeps[0]["setting"], axis=axis, scale=scale),
        color=alt.Color("color:N", scale=None),
        detail=alt.Detail("name:N"),
    )
    y = alt.Y("low:Q", title=title, axis=alt.Axis(tickCount=5), scale=vertical)
    layers = [
        base.mark_area(opacity=0.15).encode(y=y, y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=2).encode(y=alt.Y("y:Q")),
        base.mark_circle(size=50, opacity=1).encode(y=alt.Y("y:Q")),
    ]
    if rule is not None:
        dashed = alt.Chart(alt.Data(values=[{"low": rule}])).mark_rule(
            color=INK, strokeDash=[4, 4], strokeWidth=1.5
        )
        layers.insert(0, dashed.encode(y=y))
    return draw(alt.layer(*layers), rows, height=290)


def trainings(
    series: Mapping[str, Sequence[tuple[Values, Values]]],
    keys: Sequence[Key],
    *,
    title: str,
    log: bool = False,
) -> str:
    """Thin lines for the (steps, values) of an objective's seeds, a thick one for their mean at
    steps they share.

    With `log`, values far apart have a logarithmic axis.
    """
    alt = load_altair()
    thick, fine = [], []
    for key in keys:
        found = [(np.asarray(x, float), np.asarray(y, float)) for x, y in series.get(key.name, ())]
        found = [(x[np.isfinite(y)], y[np.isfinite(y)]) for x, y in found if np.isfinite(y).any()]
        for number, (x, y) in enumerate(found if len(found) > 1 else ()):
            fine += _points(x, y, key, f"{key.name}{number}", width=1.0, opacity=0.3)
        thick += _points(*mean_line(found), key, key.name, width=2.2, opacity=1.0)
    rows = fine + thick
    axis, scale = _axis(alt, [row["y"] for row in rows] if log else [])
    chart = chart_of_rows(alt).encode(
        x=alt.X(
            "x:Q", title="step", axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=False, nice=False)
        ),
        y=alt.Y("y:Q", title=title, axis=axis, scale=scale),
        color=alt.Color("color:N", scale=None),
        detail=alt.Detail("name:N"),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
        opacity=alt.Opacity("opacity:Q", scale=None),
        strokeDash=alt.StrokeDash("dash:N", scale=None),
    )
    alone = len({row["x"] for row in rows}) == 1  # a line of one point would not be seen
    return draw(chart.mark_point(filled=True) if alone else chart.mark_line(), rows, height=290)


def mean_line(found: Sequence[tuple[Numbers, Floats]]) -> tuple[Numbers, Floats]:
    """The steps that all lines share, and the means of their values there; steps of a line ascend.

    >>> one = np.array([1, 2, 3]), np.array([1.0, 2, 3])
    >>> steps, means = mean_line([one, (np.array([2, 3]), np.array([4.0, 5]))])
    >>> steps.tolist(), means.tolist()
    ([2, 3], [3.0, 4.0])
    """
    if not found:
        return np.zeros(0), np.zeros(0)
    shared = found[0][0]
    for x, _ in found[1:]:
        shared = np.intersect1d(shared, x)
    return shared, np.mean([y[np.isin(x, shared)] for x, y in found], axis=0)


def reliabilities(curves: Mapping[str, ReliabilityBins], keys: Sequence[Key]) -> str:
    """Predicted probability against the share that was right, a line an objective; empty bins are
    skipped.
    """
    alt = load_altair()
    rows = []
    for key in keys:
        curve = curves[key.name]
        centers, observed = (np.asarray(curve[name], float) for name in ("centers", "observed"))
        kept = (np.asarray(curve["counts"]) > 0) & np.isfinite(observed)
        rows += _points(centers[kept], observed[kept], key, key.name, width=2.0, opacity=1.0)
    unit = alt.Scale(domain=[0, 1])
    position = {
        "x": alt.X(
            "x:Q",
            title="predicted probability",
            scale=unit,
            axis=alt.Axis(tickCount=5, labelFlush=False),
        ),
        "y": alt.Y("y:Q", title="share that was right", scale=unit, axis=alt.Axis(tickCount=5)),
    }
    ends = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    base = chart_of_rows(alt).encode(
        **position, color=alt.Color("color:N", scale=None), detail=alt.Detail("name:N")
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None))
    layers = [
        ends.mark_line(color=MUTED, strokeDash=[4, 4]).encode(**position),
        lines,
        base.mark_circle(size=40),
    ]
    return draw(alt.layer(*layers), rows, height=340)


class Point(TypedDict):
    """A point of a line, and how the line looks."""

    name: str
    color: str
    dash: Sequence[int]
    width: float
    opacity: float
    x: float
    y: float


def _points(
    x: Numbers, y: Floats, key: Key, name: str, *, width: float, opacity: float
) -> list[Point]:
    kept = thin(len(x), MOST_POINTS)
    return [
        Point(
            name=name,
            color=key.color,
            dash=DASHES if key.dashed else [],
            width=width,
            opacity=opacity,
            x=float(x[i]),
            y=float(y[i]),
        )
        for i in kept
    ]


def _axis(
    alt: ModuleType, values: Sequence[float], *, every: bool = False
) -> "tuple[altair.Axis, altair.Scale]":
    """Axis and scale, logarithmic where the values ask for it; with `every`, ticks are the values,
    if they are few.
    """
    ordered = sorted(set(values))
    own = (
        {"values": ordered, "labelOverlap": True, "labelFlush": False}
        if every and len(ordered) <= 10
        else None
    )
    if ordered and ordered[0] > 0 and ordered[-1] / ordered[0] >= WIDE:
        axis = alt.Axis(**(own or {"values": _powers(ordered[0], ordered[-1])}), format="~g")
        return axis, alt.Scale(type="log", nice=False, domain=[ordered[0], ordered[-1]])
    return alt.Axis(**(own or {"tickCount": 5}), format="~g"), alt.Scale(zero=False, nice=not every)


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten in [low, high], and where these are few, twice and five times as much."""
    span = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(span) < 5 else (1,)
    return [
        tick
        for power in span
        for step in steps
        if low <= (tick := float(f"{step}e{power}")) <= high
    ]


def _spread(row: BandScore) -> dict[str, float]:
    mean, spread = float(row["macro_f1"]), _known(row["spread"])
    return {"mean": mean, "low": mean - spread, "high": mean + spread}


def _known(spread: float) -> float:
    """One seed has no spread to draw."""
    return float(spread) if math.isfinite(spread) else 0.0


def _side(value: float) -> str:
    return PALETTE[0] if value >= 0 else PALETTE[1]
