"""Results of a recipe as one picture: a panel for each data set, differences to the baseline with
their intervals.
"""

import math
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import NamedTuple

from tagwright.reports.compare_facts import Difference
from tagwright.reports.forest import Lines, forest, height_of
from tagwright.reports.page import metric_name
from tagwright.reports.plots import INK, MUTED, SURFACE, WIDTH
from tagwright.reports.reproduce import Line, RecipeFacts, ResultTable

COLUMNS = 2
# above a panel, for its name; beside it, for letters that are wider than they were measured
HEAD, GAP = (
    34,
    30,
)
BELOW = 12  # it
LEAST = 3  # seeds: with fewer, intervals are wider than the page


class Panel(NamedTuple):
    """A data set, with its cut if there is one: what is compared there, encoder by encoder."""

    name: str
    lines: Lines
    differences: Sequence[Difference]


def picture(facts: RecipeFacts) -> str | None:
    """An SVG file of its own; None where no variant has seeds enough, or none beside the
    baseline.
    """
    places = dict.fromkeys((table.data, table.cut) for table in facts.tables)
    panels = [panel for place in places if (panel := _panel(facts, place)).lines]
    if not panels:
        return None
    several = len({encoder for panel in panels for encoder in panel.lines}) > 1
    title = f"difference in {metric_name(facts.metric)}, points"
    parts, top = list[str](), 8
    for row in (panels[at : at + COLUMNS] for at in range(0, len(panels), COLUMNS)):
        for column, panel in enumerate(row):
            left = GAP + column * (WIDTH + GAP)
            placed = f'<svg x="{left}" y="{top + HEAD}" overflow="visible" '
            svg = forest(panel.lines, panel.differences, title=title).replace("<svg ", placed, 1)
            parts += [_text(_named(panel, several=several), left, top + 16, INK, 600), svg]
        top += HEAD + max(height_of(panel.lines) for panel in row) + BELOW
    width = min(len(panels), COLUMNS) * (WIDTH + GAP) + GAP
    parts.append(_text(_legend(facts), GAP, top + 6, MUTED, 400))
    return as_file("".join(parts), width=width, height=top + 20, title=facts.title)


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


def _panel(facts: RecipeFacts, place: tuple[str, str]) -> Panel:
    tables = {t.encoder: _shown(t) for t in facts.tables if (t.data, t.cut) == place}
    lines = {
        encoder: [line.variant for line in shown] for encoder, shown in tables.items() if shown
    }
    found = [
        _difference(facts.metric, encoder, line)
        for encoder, shown in tables.items()
        for line in shown
    ]
    return Panel(" ".join(part for part in place if part), lines, found)


def _named(panel: Panel, *, several: bool) -> str:
    """A panel of one encoder has no headings: its name says which, where the picture has
    several.
    """
    return (
        ", ".join([panel.name, *panel.lines]) if several and len(panel.lines) == 1 else panel.name
    )


def _shown(table: ResultTable) -> Sequence[Line]:
    return [
        line
        for line in table.lines
        if len(line.scores) >= LEAST and (line.over_texts or line.over_seeds)
    ]


def _difference(metric: str, encoder: str, line: Line) -> Difference:
    center, low, high = (
        100 * value for value in line.over_texts or line.over_seeds or (math.nan,) * 3
    )
    return {
        "objective": line.variant,
        "encoder": encoder,
        "metric": metric,
        "mean": center,
        "low": low,
        "high": high,
        "p_value": math.nan if line.p_value is None else line.p_value,
        # a line keeps what the corrected p-value says, not the value
        "adjusted": 0.0 if line.verdict in ("better", "worse") else 1.0,
        "over_texts": line.over_texts is not None,
    }


def _legend(facts: RecipeFacts) -> str:
    baseline = {
        line.variant for table in facts.tables for line in table.lines if line.verdict == "baseline"
    }
    shown = [line for table in facts.tables for line in _shown(table)]
    over = "other seeds and texts" if all(line.over_texts for line in shown) else "other seeds"
    seeds = " to ".join(
        str(count) for count in sorted({f(len(line.scores) for line in shown) for f in (min, max)})
    )
    words = f"To the right: more than {', '.join(sorted(baseline))}. Bars: 95%, over {over}"
    return f"{words}; filled: shown to differ. {seeds} seeds."


def _text(words: str, x: int, y: int, color: str, weight: int) -> str:
    look = f'font-family="sans-serif" font-size="13" font-weight="{weight}" fill="{color}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(words)}</text>'
