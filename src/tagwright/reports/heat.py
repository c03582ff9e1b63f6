"""Heat maps of square matrices between labels, as SVG: the stronger a cell, the less one sees
through its color.

So the page's own two colors are enough, in light and in dark, and a gradient of them is the
legend.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats
from tagwright.reports.plots import (
    MUTED,
    PALETTE,
    SURFACE,
    WIDTH,
    chart_of_rows,
    draw,
    load_altair,
)
from tagwright.reports.short_names import short_names

NARROW = 30  # labels up to which two maps fit beside each other
WIDE = 2 * WIDTH + 60  # of a map that has the whole page
FAINTEST = 0.05  # so that the lowest cell is still seen
TOP = 98  # percentile at which the scale ends, so that a few cells do not leave all others pale
NONE = 0.45  # how strong the gray of cells is that have no value
AXIS = {"grid": False, "labelLimit": 0, "labelOverlap": False, "ticks": False, "domain": False}


class HeatMap(NamedTuple):
    """A map, and the ends of its scale: a `signed` one has a second color below 0, from 0 to
    -high. Some cells are beyond `high`, and as strong."""

    svg: str
    low: float
    high: float
    signed: bool


def heat_map(
    names: Sequence[str],
    matrix: Floats,
    *,
    signed: bool,
    rows: str | None = None,
    columns: str | None = None,
) -> HeatMap:
    """Cells (L, L), in the given order; the diagonal and NaN are gray. `rows` and `columns` are
    titles of the axes.

    Not `signed`, from the lowest value up; else from 0 both ways.
    """
    alt = load_altair()
    values = np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)
    known = values[np.isfinite(values)]
    high = float(np.percentile(np.abs(known), TOP)) if len(known) else 0.0
    low = 0.0 if signed else float(known.min(initial=high))
    width, letters, room = (WIDTH, 11, 18) if len(names) <= NARROW else (WIDE, 13, 26)
    axis = {**AXIS, "labelFontSize": letters}
    base = chart_of_rows(alt).encode(
        x=alt.X("column:N", sort=None, title=columns, axis=alt.Axis(**axis, labelAngle=-90)),
        y=alt.Y("row:N", sort=None, title=rows, axis=alt.Axis(**axis)),
        fill=alt.Fill("color:N", scale=None),
        opacity=alt.Opacity("strength:Q", scale=None),
    )
    cells = _cells(short_names(names, limit=room), values, low, high)
    svg = draw(base.mark_rect(stroke=SURFACE, strokeWidth=0.5), cells, height=width, width=width)
    return HeatMap(svg, low, high, signed)


def _cells(
    names: Sequence[str], values: Floats, low: float, high: float
) -> list[dict[str, object]]:
    """A row of data a cell, with its color and how strong it is."""
    span = (high - low) or 1.0
    strength = FAINTEST + (1 - FAINTEST) * np.minimum((np.abs(values) - low) / span, 1.0)
    return [
        {
            "row": names[i],
            "column": names[j],
            "color": MUTED if np.isnan(values[i, j]) else PALETTE[int(values[i, j] < 0)],
            "strength": NONE if np.isnan(values[i, j]) else round(float(strength[i, j]), 3),
        }
        for i in range(len(names))
        for j in range(len(names))
    ]
