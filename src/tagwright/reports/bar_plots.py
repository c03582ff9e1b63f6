"""Horizontal bars under their names: ranges, and amounts of two kinds."""

from collections.abc import Mapping, Sequence

from tagwright.reports.facts import Values
from tagwright.reports.plots import (
    INK,
    MUTED,
    PALETTE,
    chart_of_rows,
    colors,
    draw,
    load_altair,
    names_axis,
)
from tagwright.reports.short_names import short_names


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
