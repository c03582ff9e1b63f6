"""Numbers to plots, as SVG strings of one width; colors are CSS variables of the page."""

import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from tagwright.arrays import Floats, Ints
from tagwright.errors import TagwrightError
from tagwright.reports.compare_facts import BandScore
from tagwright.reports.facts import Band, ReliabilityBins, Values
from tagwright.reports.page import plural
from tagwright.reports.short_names import short_names

if TYPE_CHECKING:
    import altair

WIDTH = 450  # of a plot, axes included: one scale for all means one size of letters
HEIGHT = 240
PALETTE = [
    f"var(--{name})"
    for name in ("accent", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
]
INK, MUTED, LINE, SURFACE = "var(--ink)", "var(--muted)", "var(--line)", "var(--surface)"
TINY = 1e-300
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MOST_BARS = 20  # beyond this, names are unreadable and a curve over the rank says more
MOST_POINTS = 600


class Point(TypedDict):
    """A point of a line."""

    name: str
    x: float
    y: float


def long_tail(names: Sequence[str], counts: Values, *, title: str = "texts in train") -> str:
    """How often each label comes: named bars for few labels, a curve over the rank for many."""
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
    rows: list[Point] = []
    for name, (x, y) in series.items():
        kept = np.flatnonzero(np.isfinite(np.asarray(y, float)))
        for i in kept[thin(len(kept), MOST_POINTS)]:
            rows.append({"name": name, "x": float(x[i]), "y": float(y[i])})
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
        upright = alt.Chart(alt.Data(values=[{"x": rule}])).encode(x="x:Q")
        layers.insert(0, upright.mark_rule(color=MUTED, strokeDash=[4, 4]))
    if marked is not None:
        layers += _mark(alt, marked, rows)
    if best and len(series) > 1:
        rings = alt.Chart(
            alt.Data(values=[{"name": name, "x": x, "y": y} for name, (x, y) in best.items()])
        )
        rings = rings.encode(x="x:Q", y="y:Q", color=colors(alt, list(series)))
        layers.append(rings.mark_point(size=170, strokeWidth=2.5, opacity=1))
    return draw(alt.layer(*layers), rows)


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


def scatter(x: Values, y: Values, *, x_title: str, y_title: str) -> str:
    """One dot per label, `x` on a logarithmic axis (0 counts as 1), thinned; NaN is skipped."""
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


def band_scores(bands: Sequence[Band]) -> str:
    """Macro- and micro-F1 of frequent, middling and rare labels; a NaN score has no bar."""
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
    """Two lines under a band's name: how many labels it holds, and how frequent they are."""
    counts = dict.fromkeys([band["from_count"], band["to_count"]])
    return f"{plural(band['labels'], 'label')}\n{'–'.join(f'{count:,}' for count in counts)} texts"


def reliability(calibration: ReliabilityBins) -> str:
    """Probability against the share that was right, area by decisions; empty bins are skipped."""
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


def draw(
    chart: "altair.Chart | altair.LayerChart",
    rows: Sequence[Mapping[str, object]],
    *,
    height: int = HEIGHT,
    width: int = WIDTH,
) -> str:
    """The chart as SVG, names escaped; nothing is clipped, so no two plots share an id."""
    import vl_convert

    letters = {"labelColor": MUTED, "titleColor": INK, "labelFontSize": 13, "titleFontSize": 13}
    strokes = {"gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
    # Altair's own way to style copies the chart five times, and its check takes as long as drawing:
    # the tests draw all.
    spec = chart.to_dict(validate=False)
    spec |= {"width": width, "height": height, "autosize": {"type": "fit", "contains": "padding"}}
    spec["datasets"] = {**spec.get("datasets", {}), "rows": list(rows)}
    spec["config"] = {
        "background": "transparent",
        "font": "sans-serif",
        "aria": False,
        "padding": 4,
        "axis": {**letters, **strokes, "titleFontWeight": "normal", "titlePadding": 8},
        "legend": {"labelColor": INK, "labelFontSize": 13},
        "view": {"stroke": None},
    }
    version = "_".join(load_altair().SCHEMA_VERSION.split(".")[:2])
    return str(vl_convert.vegalite_to_svg(_drawable(spec), vl_version=version))


def _drawable(value: object) -> object:
    """The same nested values, strings cut and without what XML forbids: that makes the converter
    end the process.

    Numbers too small for its arithmetic are 0: their axes would have no end of ticks.
    """
    if isinstance(value, str):
        return NOT_XML.sub("\ufffd", value[:200])  # measuring 20,000 letters takes a minute
    if isinstance(value, float) and abs(value) < TINY:
        return 0.0
    if isinstance(value, dict):
        return {key: _drawable(item) for key, item in value.items()}
    return [_drawable(item) for item in value] if isinstance(value, list) else value


def load_altair() -> ModuleType:
    """Altair, imported on first use: training must not need it."""
    try:
        import altair
        import vl_convert  # noqa: F401  drawing needs it
    except ImportError as error:
        raise TagwrightError(
            f"a report needs {error.name}; pip install altair vl-convert-python jinja2"
        ) from error
    return altair


def chart_of_rows(alt: ModuleType) -> "altair.Chart":
    """A chart whose data `draw` brings: altair would copy them at every step of building it."""
    return alt.Chart(alt.NamedData(name="rows"))


def names_axis(alt: ModuleType) -> "altair.Y":
    """The vertical axis of names, in the order they come; longer ones end in an ellipsis."""
    return alt.Y(
        "name:N", sort=None, axis=alt.Axis(title=None, grid=False, labelLimit=0, labelOverlap=False)
    )


def colors(alt: ModuleType, names: Sequence[str]) -> "altair.Color":
    legend = alt.Legend(orient="top", title=None, symbolType="square", offset=6)
    return alt.Color(
        "name:N", scale=alt.Scale(domain=list(names), range=PALETTE[: len(names)]), legend=legend
    )


def decades(alt: ModuleType, values: Floats) -> "tuple[altair.Axis, altair.Scale]":
    """A logarithmic axis over whole decades, few of them with ticks at 2 and 5; values are >= 1."""
    low, high = int(np.floor(np.log10(values.min()))), int(np.ceil(np.log10(values.max())))
    high = max(high, low + 1)
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10**power for power in range(low, high) for step in steps] + [10**high]
    axis = alt.Axis(values=ticks, format="~s", labelOverlap=False)
    return axis, alt.Scale(type="log", domain=[10**low, 10**high], nice=False)


def thin(count: int, limit: int) -> Ints:
    """At most `limit` positions of range(count), evenly spread, both ends among them.

    >>> thin(7, 3).tolist(), thin(2, 3).tolist()
    ([0, 3, 6], [0, 1])
    """
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, limit)).astype(np.int64))
