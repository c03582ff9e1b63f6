"""The objectives of a comparison: their order, and which of them are drawn in which color."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tagwright.reports.compare_facts import CompareFacts, Summary
from tagwright.reports.plots import INK, PALETTE


class Key(NamedTuple):
    """How an objective looks, in every plot of a page alike. Dashes help where colors alone would
    not.
    """

    name: str
    color: str
    dashed: bool = False


def ranked(facts: CompareFacts) -> list[Summary]:
    """The summaries by encoder; in each the best mean of the primary metric first, those without
    one last.
    """
    place = {encoder: i for i, encoder in enumerate(facts.encoders)}
    return sorted(
        facts.summary, key=lambda row: (place.get(row["encoder"], len(place)), -_worth(facts, row))
    )


def metrics_of(facts: CompareFacts) -> list[str]:
    """The primary metric, then the others in the order they come."""
    return list(
        dict.fromkeys([facts.metric, *(name for row in facts.summary for name in row["metrics"])])
    )


def primary(facts: CompareFacts, row: Summary) -> float:
    """The mean of the primary metric, NaN where there is none."""
    return float(row["metrics"].get(facts.metric, (math.nan, math.nan))[0])


def keys(facts: CompareFacts) -> list[Key]:
    """The baseline and the objectives beside it, as given; of very many the best, for there are no
    more colors.
    """
    worth: dict[str, list[float]] = {name: [] for name in facts.objectives}
    for row in facts.summary:
        if (value := _worth(facts, row)) > -math.inf:
            worth.setdefault(row["objective"], []).append(value)
    others = [name for name, values in worth.items() if values and name != facts.baseline]
    best = set(sorted(others, key=lambda name: -float(np.mean(worth[name])))[: len(PALETTE)])
    drawn = [name for name in others if name in best]
    first = [Key(facts.baseline, INK)] if worth.get(facts.baseline) else []
    return first + [
        Key(name, PALETTE[i], dashed=i >= len(PALETTE) // 2) for i, name in enumerate(drawn)
    ]


def present(found: Iterable[Key], names: Iterable[str]) -> list[Key]:
    """The keys of those names."""
    wanted = set(names)
    return [key for key in found if key.name in wanted]


def _worth(facts: CompareFacts, row: Summary) -> float:
    """Higher is better; -inf where nothing is known."""
    mean = primary(facts, row)
    if math.isnan(mean):
        return -math.inf
    return -mean if facts.metric in facts.lower_is_better else mean
