"""The page of attention between labels: heat maps of it, beside one of the labels' correlation
(LM-MTC, Figure 3).
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats
from tagwright.reports.facts import AttentionFacts
from tagwright.reports.heat import NARROW, HeatMap, heat_map
from tagwright.reports.page import Card, Cell, Table, number, plural, render

PAIRS = 12  # the strongest by each column of the table
SURE = 0.05
WEAK = 0.3


class Map(NamedTuple):
    """A heat map with its title, the ends of its scale in words, and what to read from it."""

    title: str
    drawn: HeatMap
    low: str
    high: str
    caption: str


def attention_report(facts: AttentionFacts) -> str:
    """One self-contained HTML page. Without labels in the data there is no correlation, and nothing
    to compare with.
    """
    return render(
        "attention.html.j2",
        facts=facts,
        lead=_lead(facts),
        verdict=verdict(facts),
        cards=[_card(facts, layer) for layer in facts.likeness],
        maps=[*_correlation_map(facts), *(_layer_map(facts, layer) for layer in facts.layers)],
        wide=len(facts.shown) > NARROW,
        hidden=any(
            np.isnan(matrix[~np.eye(len(matrix), dtype=bool)]).any()
            for matrix in facts.layers.values()
        ),
        layers=layer_table(facts),
        pairs=pair_table(facts),
    )


def verdict(facts: AttentionFacts) -> str:
    """A sentence on the layer whose attention is most like the correlation; "" where nothing is
    compared.
    """
    known = {layer: found for layer, found in facts.likeness.items() if np.isfinite(found.spearman)}
    if not known:
        return ""
    layer, best = max(known.items(), key=lambda item: item[1].spearman)
    if best.spearman > 0 and best.p_shuffled < SURE:
        more = "a little more" if best.spearman < WEAK else "more"
        return (
            f"Labels that come together look at each other {more}, most clearly in layer {layer}: "
            f"Spearman's correlation is {signed(best.spearman)} ({_p_value(best.p_shuffled)})."
        )
    return (
        "In none of these layers do labels that come together look at each other more than chance"
        f" explains; nearest to it is layer {layer}, with a Spearman's correlation of"
        f" {signed(best.spearman)} ({_p_value(best.p_shuffled)})."
    )


def strongest_pairs(facts: AttentionFacts, *, most: int = PAIRS) -> list[tuple[int, int]]:
    """Pairs of shown labels that are among the `most` highest in some layer, or by correlation, or
    by its opposite.

    The highest of the last layer come first.
    """
    left, right = np.triu_indices(len(facts.shown), 1)
    ids = np.asarray(facts.shown)
    left, right = ids[left], ids[right]
    columns = [both_ways(matrix)[left, right] for matrix in facts.layers.values()]
    if facts.correlation is not None:
        columns += [facts.correlation[left, right], -facts.correlation[left, right]]
    kept = set()
    for values in columns:
        ranked = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:most]
        kept |= {int(i) for i in ranked if np.isfinite(values[i])}
    last = columns[len(facts.layers) - 1]
    order = sorted(kept, key=lambda i: -np.nan_to_num(last[i], nan=-np.inf))
    return [(int(left[i]), int(right[i])) for i in order]


def both_ways(matrix: Floats) -> Floats:
    """The mean of what i spends on j and j on i, (L, L); of one way where there is but one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no way at all: NaN
        found: Floats = np.nanmean([matrix, matrix.T], axis=0)
    return found


def _lead(facts: AttentionFacts) -> str:
    few = "" if facts.texts == facts.rows else f", evenly spread over {facts.rows:,}"
    every = (
        "" if len(facts.shown) == len(facts.label_names) else f", {len(facts.shown)} of them drawn"
    )
    return (
        "Do labels look at each other as they come together?"
        f" {plural(len(facts.label_names), 'label')}{every}; attention at"
        f" {plural(len(facts.layers), 'layer')} of {facts.depth}, averaged over heads and over"
        f" {plural(facts.texts, 'text')} of {facts.split}{few}."
    )


def _card(facts: AttentionFacts, layer: int) -> Card:
    found = facts.likeness[layer]
    return Card(
        f"likeness, layer {layer} of {facts.depth}",
        signed(found.spearman),
        _p_value(found.p_shuffled),
    )


def signed(value: float) -> str:
    """A correlation with its sign.

    >>> signed(0.4567), signed(-0.2), signed(-0.001), signed(float("nan"))
    ('+0.46', '−0.20', '+0.00', '–')
    """
    return "–" if np.isnan(value) else f"{round(value, 2) + 0.0:+.2f}".replace("-", "−")


def _p_value(value: float) -> str:
    if not np.isfinite(value):
        return ""
    return "p ≤ 0.001" if value <= 0.001 else f"p = {value:.3f}"


def _part(facts: AttentionFacts, matrix: Floats) -> tuple[list[str], Floats]:
    """Names and cells of the labels that are drawn, in their order."""
    return [facts.label_names[label] for label in facts.shown], matrix[
        np.ix_(facts.shown, facts.shown)
    ]


def _correlation_map(facts: AttentionFacts) -> list[Map]:
    if facts.correlation is None:
        return []
    drawn = heat_map(*_part(facts, facts.correlation), signed=True)
    caption = (
        f"Pearson's correlation of the labels of {plural(facts.labelled, 'text')}: on the same"
        " texts more often than by chance (positive), or less often (negative)."
    )
    low, high = (signed(sign * drawn.high) for sign in (-1, 1))
    return [Map("Which labels come together", drawn, f"≤ {low}", f"≥ {high}", caption)]


def _layer_map(facts: AttentionFacts, layer: int) -> Map:
    drawn = heat_map(
        *_part(facts, facts.layers[layer]),
        signed=False,
        rows="this label looks …",
        columns="… at this one",
    )
    found = facts.likeness.get(layer)
    like = f" Likeness to the correlation: {signed(found.spearman)}." if found else ""
    caption = (
        "The share of its attention that a label (row) spends on the slot of another"
        f" (column).{like}"
    )
    title = f"Attention in layer {layer} of {facts.depth}"
    return Map(title, drawn, f"{drawn.low:.2%}", f"≥ {drawn.high:.2%}", caption)


def layer_table(facts: AttentionFacts) -> Table:
    """What a label looks at in each layer (others, itself, and the rest, which is the text), and
    what that is like.
    """
    helps = {
        "layer": "",
        "other labels": "share of a label's attention, the mean of all labels",
        "itself": "",
    }
    helps["the text"] = "words and special tokens"
    if facts.nearness:
        helps["nearness"] = "Spearman's correlation with how near the slots stand"
    if facts.likeness:
        helps["likeness"] = (
            "Spearman's correlation with that of the labels, over all pairs of labels"
        )
        helps |= {
            "p": "how often shuffled labels come as far from 0",
            "cells": "pairs that were compared",
        }
    return Table(
        columns=list(helps.items()),
        rows=[_layer_row(facts, layer) for layer in facts.layers],
        sorted_by=None,
    )


def _layer_row(facts: AttentionFacts, layer: int) -> list[Cell]:
    matrix = facts.layers[layer]
    own, labels = float(np.nanmean(matrix.diagonal())), float(np.nansum(matrix, axis=1).mean())
    shares = (labels - own, own, 1 - labels)
    cells = [Cell(str(layer), layer), *(Cell(f"{share:.1%}", share) for share in shares)]
    if facts.nearness:
        cells.append(Cell(signed(facts.nearness[layer]), _sortable(facts.nearness[layer])))
    if facts.likeness:
        found = facts.likeness[layer]
        chance = "–" if np.isnan(found.p_shuffled) else f"{found.p_shuffled:.3f}"
        cells.append(Cell(signed(found.spearman), _sortable(found.spearman)))
        cells += [Cell(chance, _sortable(found.p_shuffled)), Cell(number(found.cells), found.cells)]
    return cells


def pair_table(facts: AttentionFacts) -> Table:
    """The strongest pairs, with what the data and each layer say of them."""
    columns = [("labels", "")]
    if facts.correlation is not None:
        columns += [("correlation", "Pearson's, of the data"), ("texts", "with both labels")]
    columns += [(f"layer {layer}", "attention, the mean of both ways") for layer in facts.layers]
    ways = [both_ways(matrix) for matrix in facts.layers.values()]
    pairs = strongest_pairs(facts)
    most = max((ways[-1][pair] for pair in pairs if np.isfinite(ways[-1][pair])), default=1.0)
    rows = [_pair_row(facts, pair, [float(way[pair]) for way in ways], most) for pair in pairs]
    return Table(columns=columns, rows=rows, sorted_by=len(columns) - 1)


def _pair_row(
    facts: AttentionFacts, pair: tuple[int, int], shares: Sequence[float], most: float
) -> list[Cell]:
    cells = [Cell(" + ".join(facts.label_names[label] for label in pair))]
    if facts.correlation is not None and facts.together is not None:
        value, count = float(facts.correlation[pair]), int(facts.together[pair])
        cells += [Cell(signed(value), _sortable(value)), Cell(number(count), count)]
    cells += [Cell(_percent(share), _sortable(share)) for share in shares]
    return [*cells[:-1], cells[-1]._replace(share=float(np.nan_to_num(shares[-1])) / most)]


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.2%}"


def _sortable(value: float) -> float:
    """Below all others, where there is no value."""
    return -2.0 if np.isnan(value) else value
