"""Results of a recipe as one picture: a panel for each data set, differences to the baseline with their intervals."""

import math
import re
from collections.abc import Sequence
from html import escape
from statistics import mean

from tagwright.report.compare_facts import Difference
from tagwright.report.draw import INK, MUTED, WIDTH, as_file
from tagwright.report.forest import forest
from tagwright.report.page import metric_name
from tagwright.report.reproduce import Line, RecipeFacts, ResultTable

COLUMNS = 2
HEAD, GAP = 34, 30  # above a panel, for its name; beside it, for letters that are wider than they were measured
LEAST = 3  # seeds: with fewer, intervals are wider than the page


def picture(facts: RecipeFacts) -> str | None:
    """An SVG file of its own; None where no variant has seeds enough, or none beside the baseline."""
    panels = [panel for place in _places(facts) if (panel := _panel(facts, place))]
    if not panels:
        return None
    rows = [panels[at : at + COLUMNS] for at in range(0, len(panels), COLUMNS)]
    heights = [HEAD + 12 + max(_height(svg) for _, svg in row) for row in rows]
    width = min(len(panels), COLUMNS) * (WIDTH + GAP) + GAP
    parts, top = [], 8
    for row, height in zip(rows, heights):
        for column, (name, svg) in enumerate(row):
            left = GAP + column * (WIDTH + GAP)
            placed = f'<svg x="{left}" y="{top + HEAD}" overflow="visible" '
            parts += [_text(name, left, top + 16, INK, 600), svg.replace("<svg ", placed, 1)]
        top += height
    parts.append(_text(_legend(facts), GAP, top + 6, MUTED, 400))
    return as_file("".join(parts), width=width, height=top + 20, title=facts.title)


def _places(facts: RecipeFacts) -> list[tuple[str, str]]:
    return list(dict.fromkeys((table.data, table.cut) for table in facts.tables))


def _panel(facts: RecipeFacts, place: tuple[str, str]) -> tuple[str, str] | None:
    """The data set's name, with its cut if there is one, and its plot."""
    tables = {t.encoder: _shown(t) for t in facts.tables if (t.data, t.cut) == place}
    lines = {encoder: [line.variant for line in shown] for encoder, shown in tables.items() if shown}
    if not lines:
        return None
    differences = [_difference(encoder, line) for encoder, shown in tables.items() for line in shown]
    title = f"difference in {metric_name(facts.metric)}, points"
    return " ".join(part for part in place if part), forest(lines, differences, title=title)


def _shown(table: ResultTable) -> Sequence[Line]:
    return [line for line in table.lines if len(line.scores) >= LEAST and (line.over_texts or line.over_seeds)]


def _difference(encoder: str, line: Line) -> Difference:
    centre, low, high = (100 * value for value in line.over_texts or line.over_seeds or (math.nan,) * 3)
    sure = line.verdict in ("better", "worse")
    found = {"encoder": encoder, "objective": line.variant, "mean": centre, "low": low, "high": high}
    return {**found, "adjusted": 0.0 if sure else 1.0}  # type: ignore[typeddict-item]


def _legend(facts: RecipeFacts) -> str:
    baseline = {line.variant for table in facts.tables for line in table.lines if line.verdict == "baseline"}
    seeds = [len(line.scores) for table in facts.tables for line in _shown(table)]
    texts = all(line.over_texts for table in facts.tables for line in _shown(table))
    over = "other seeds and texts" if texts else "other seeds"
    words = f"To the right: more than {', '.join(sorted(baseline))}. Bars: 95%, over {over}"
    return f"{words}; filled: shown to differ. {round(mean(seeds))} seeds."


def _text(words: str, x: int, y: int, colour: str, weight: int) -> str:
    look = f'font-family="sans-serif" font-size="13" font-weight="{weight}" fill="{colour}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(words)}</text>'


def _height(svg: str) -> int:
    found = re.search(r'height="(\d+)', svg)
    assert found, "vega gives every drawing its height"
    return int(found[1])
