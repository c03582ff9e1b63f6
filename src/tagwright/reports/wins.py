"""How often each variant of a recipe is the best, metric by metric: the form of ZLPR's Table 1."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from tagwright import metrics

if TYPE_CHECKING:
    from tagwright.reports.reproduce import ResultTable

LEAST = 2  # tables to count in


def wins(tables: Sequence["ResultTable"], metric: str, also: Sequence[str]) -> Iterator[str]:
    """Lines of Markdown; none where fewer than two tables have a score of every variant."""
    variants = list(dict.fromkeys(line.variant for table in tables for line in table.lines))
    whole = [
        table
        for table in tables
        if {line.variant for line in table.lines if line.scores} == set(variants)
    ]
    if len(whole) < LEAST or len(variants) < LEAST:
        return
    names = (metric, *also)
    yield from (
        "",
        "## Wins",
        "",
        f"In how many of {len(whole)} tables, those with all variants, each has the best mean.",
    )
    yield from ("", f"| variant | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|")
    winners = {
        name: [
            best(
                {
                    line.variant: mean(line.scores if name == metric else line.beside[name])
                    for line in table.lines
                },
                name,
            )
            for table in whole
        ]
        for name in names
    }
    for variant in variants:
        counts = [str(sum(variant in found for found in winners[name])) for name in names]
        yield f"| {' | '.join((variant.replace('|', chr(92) + '|'), *counts))} |"


def best(values: Mapping[str, float], metric: str) -> list[str]:
    """Who has the best value of a metric; several where it is the same."""
    sign = 1 if metrics.metric(metric)[1] else -1
    most = max((sign * value for value in values.values()), default=0.0)
    return [name for name, value in values.items() if sign * value == most]
