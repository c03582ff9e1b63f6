"""How every plot is drawn: one width, safe names, colors as CSS variables of the page (one plot,
light and dark).
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import numpy as np

from tagwright.arrays import Floats, Ints
from tagwright.errors import TagwrightError

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


def draw(
    chart: "altair.TopLevelMixin",
    rows: Sequence[Mapping[str, object]],
    *,
    height: int = HEIGHT,
    width: int = WIDTH,
) -> str:
    """The chart as SVG. The renderer escapes every name; no part is clipped, so no two plots of a
    page share an id.
    """
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


def as_file(parts: str, *, width: int, height: int, title: str) -> str:
    """Drawings as one SVG file, in the light colors of the reports: it has no page around it that
    would bring them.
    """
    size = f'width="{width}" height="{height}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">'
    )
    ground = f'<title>{escape(title)}</title><rect {size} fill="{SURFACE}"/>'
    style = (
        files("tagwright.reports").joinpath("templates", "style.css").read_text(encoding="utf-8")
    )
    colors = dict(re.findall(r"(--\w+): (#\w+)", style.partition("}")[0]))
    return re.sub(
        r"var\((--\w+)\)", lambda found: str(colors[found[1]]), f"{head}{ground}{parts}</svg>\n"
    )


def short_names(names: Sequence[str], *, limit: int = 26) -> list[str]:
    """Names cut in the middle, for paths differ at their ends; those that then look alike are cut
    elsewhere, where they differ, and the same names are numbered.

    Vega's own limit is off: it counts in UTF-16 and may cut a letter in two, which ends the drawing
    with an error.

    >>> names = ["home / garden / chairs", "home / garden / stairs", "home / garden / stairs"]
    >>> short_names(names, limit=9)
    ['ho…chairs', 'ho…stairs', 'ho…stairs (2)']
    """
    rooms = [
        limit // 2 if any(east_asian_width(letter) in "WF" for letter in name) else limit
        for name in names
    ]
    short = [_cut(name, room) for name, room in zip(names, rooms)]
    alike: dict[str, list[int]] = {}
    for i, cut in enumerate(short):
        alike.setdefault(cut, []).append(i)
    for places in alike.values():
        if len({names[i] for i in places}) > 1:
            start = _apart([names[i] for i in places])
            for i in places:
                short[i] = _cut_from(names[i], start, rooms[i])
    seen: dict[str, int] = {}
    for i, cut in enumerate(short):
        seen[cut] = seen.get(cut, 0) + 1
        short[i] = cut if seen[cut] == 1 else f"{cut} ({seen[cut]})"
    return short


def thin(count: int, limit: int) -> Ints:
    """At most `limit` positions of range(count), evenly spread, both ends among them.

    >>> thin(7, 3).tolist(), thin(2, 3).tolist()
    ([0, 3, 6], [0, 1])
    """
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, limit)).astype(np.int64))


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
    """A logarithmic axis over whole decades, with ticks at 2 and 5 where there are few; values are
    at least 1.
    """
    low, high = int(np.floor(np.log10(values.min()))), int(np.ceil(np.log10(values.max())))
    high = max(high, low + 1)
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10**power for power in range(low, high) for step in steps] + [10**high]
    axis = alt.Axis(values=ticks, format="~s", labelOverlap=False)
    return axis, alt.Scale(type="log", domain=[10**low, 10**high], nice=False)


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


def _cut(name: str, room: int) -> str:
    half = (room - 1) // 2
    return name if len(name) <= room else f"{name[:half]}…{name[-half:]}"


def _apart(names: Sequence[str]) -> int:
    """Where the word begins in which the names first differ."""
    shared = next(
        (i for i, letters in enumerate(zip(*names)) if len(set(letters)) > 1), min(map(len, names))
    )
    return names[0].rfind(" ", 0, shared) + 1


def _cut_from(name: str, start: int, room: int) -> str:
    """The first letters of a name, and what comes from `start` on."""
    head = min(room // 4, start)
    rest = room - head - 1
    return (
        f"{name[:head]}…{name[start:]}"
        if len(name) - start <= rest
        else f"{name[:head]}…{name[start:][: rest - 1]}…"
    )
