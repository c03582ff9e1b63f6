"""Where objectives differ: by frequency, by label, by setting, while training, in their
probabilities, text by text.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats
from tagwright.reports import contrast_plots, forest
from tagwright.reports.compare_facts import CompareFacts, Curve, Difference, Flip, Sweep
from tagwright.reports.compare_tables import exchange_table, gain_of, interval_over, label_table
from tagwright.reports.facts import Values
from tagwright.reports.objectives import Key, keys, present, primary, ranked
from tagwright.reports.page import Figure, Table, metric_name, number, plural
from tagwright.reports.plots import PALETTE

MOST_BARS = 20  # labels that have a bar each; of more, the ends of the order
MOST_TEXTS = 30
AT_FIRST = 4  # texts of a list that are seen before it is opened


class Contrast(NamedTuple):
    """Figures of one section, and whose colors they show."""

    figures: Sequence[Figure]
    legend: Sequence[Key]


class LabelChanges(NamedTuple):
    """What happened to the labels on one encoder."""

    encoder: str
    objective: str
    figures: Sequence[Figure]
    table: Table


class Pairs(NamedTuple):
    """Confused pairs on one encoder."""

    encoder: str
    objective: str
    table: Table


class Flips(NamedTuple):
    """Texts on one encoder: a heading with its texts, those seen at first and those behind them."""

    encoder: str
    objective: str
    lists: Sequence[tuple[str, Sequence[Flip], Sequence[Flip]]]


def standing(facts: CompareFacts) -> list[Figure]:
    """Paired differences, if any, and single runs of the primary metric, on the same lines."""
    lines: dict[str, list[str]] = {}
    for row in ranked(facts):
        if math.isfinite(primary(facts, row)):
            lines.setdefault(row["encoder"], []).append(row["objective"])
    if not lines:
        return []
    name, figures = metric_name(facts.metric), []
    found = [
        d for d in facts.differences if d["metric"] == facts.metric and math.isfinite(d["mean"])
    ]
    if found:
        rows = [
            *found,
            *(_itself(facts, encoder) for encoder in dict.fromkeys(d["encoder"] for d in found)),
        ]
        svg = forest.forest(lines, rows, title=f"{name} minus that of {_baseline(facts)}")
        figures.append(Figure(f"Better than {_baseline(facts)}?", svg, _intervals(facts, found)))
    svg = forest.seeds(lines, facts.rows, facts.metric, title=name)
    return [*figures, Figure("Every run", svg, "A dot is a run, the stroke the mean of its line.")]


def by_frequency(facts: CompareFacts) -> Contrast | None:
    """Macro-F1 by how frequent labels are, an encoder a figure; one band alone says nothing."""
    figures, legend = [], present(keys(facts), (row["objective"] for row in facts.bands))
    for encoder in facts.encoders:
        rows = [row for row in facts.bands if row["encoder"] == encoder and row["labels"]]
        rows = [row for row in rows if math.isfinite(row["macro_f1"])]
        if len({row["band"] for row in rows}) > 1:
            figures.append(
                Figure(
                    _alone(facts, encoder, "Do rare labels work?"),
                    contrast_plots.bands(rows, legend),
                )
            )
    return Contrast(figures, legend) if figures else None


def by_label(facts: CompareFacts) -> list[LabelChanges]:
    """Every encoder on which both the baseline and the objective that is shown have scores of
    labels.
    """
    result = []
    for encoder, objective in facts.shown.items():
        found = {row["objective"]: row for row in facts.gains if row["encoder"] == encoder}
        if facts.baseline not in found or objective not in found:
            continue
        difference = gain_of(found[objective])
        spread = np.asarray(found[objective]["spread"], float)
        figures = list(_gains(facts, difference, spread)) if np.isfinite(difference).any() else []
        result.append(
            LabelChanges(
                encoder, objective, figures, label_table(facts, encoder, objective, keys(facts))
            )
        )
    return result


def by_setting(facts: CompareFacts) -> Contrast | None:
    """A figure for each setting on each encoder; objectives that were swept have colors of their
    own.
    """
    names = list(dict.fromkeys(row["objective"] for row in facts.sweeps))[: len(PALETTE)]
    legend = [Key(name, color) for name, color in zip(names, PALETTE)]
    figures = []
    for encoder in facts.encoders:
        own = [
            row for row in facts.sweeps if row["encoder"] == encoder and row["objective"] in names
        ]
        own = [row for row in own if np.isfinite(np.asarray(row["means"], float)).any()]
        for setting in dict.fromkeys(row["setting"] for row in own):
            lines = [row for row in own if row["setting"] == setting]
            rule = next(
                (primary(facts, s) for s in facts.summary if _is(s, facts.baseline, encoder)),
                math.nan,
            )
            known = rule if math.isfinite(rule) else None
            svg = contrast_plots.sweep(lines, legend, title=metric_name(facts.metric), rule=known)
            figures.append(
                Figure(_title(facts, encoder, setting), svg, _best_value(facts, lines, known))
            )
    return Contrast(figures, legend) if figures else None


def while_training(facts: CompareFacts) -> Contrast | None:
    """The watched score and the loss of every encoder over the steps, where there are any."""
    figures, legend = [], present(keys(facts), (row["objective"] for row in facts.curves))
    kinds = {"scores": f"{metric_name(facts.watched)} on dev", "losses": "training loss"}
    lines = {
        "scores": "",
        "losses": "Objectives have losses of their own: compare shapes, not heights.",
    }
    if len({row["seed"] for row in facts.curves}) > 1:
        lines["scores"] = "Thick: the mean over seeds, as far as all go; thin: each seed."
    for encoder in facts.encoders:
        own = [row for row in facts.curves if row["encoder"] == encoder]
        for kind, title in kinds.items():
            series = {key.name: _series(own, key.name, kind) for key in legend}
            if any(series.values()):
                svg = contrast_plots.trainings(series, legend, title=title, log=kind == "losses")
                figures.append(Figure(_title(facts, encoder, title), svg, lines[kind]))
    return Contrast(figures, legend) if figures else None


def of_probabilities(facts: CompareFacts) -> Contrast | None:
    """Reliability on every encoder."""
    figures, legend = [], present(keys(facts), (row["objective"] for row in facts.reliability))
    for encoder in facts.encoders:
        curves = {
            row["objective"]: row["curve"] for row in facts.reliability if row["encoder"] == encoder
        }
        if own := present(legend, curves):
            svg = contrast_plots.reliabilities(curves, own)
            figures.append(Figure(_alone(facts, encoder, "Predicted and true"), svg))
    return Contrast(figures, legend) if figures else None


def of_pairs(facts: CompareFacts) -> list[Pairs]:
    """Confused pairs of the baseline and of the objective that is shown."""
    result = []
    for encoder, objective in facts.shown.items():
        if pairs := [pair for pair in facts.exchanges if _is(pair, objective, encoder)]:
            table = exchange_table(pairs, before=facts.baseline, after=objective)
            result.append(Pairs(encoder, objective, table))
    return result


def of_texts(facts: CompareFacts) -> list[Flips]:
    """Texts that are right now, and texts that were; those that flipped for most seeds first."""
    result = []
    for encoder, objective in facts.shown.items():
        own = [flip for flip in facts.flips if _is(flip, objective, encoder)]
        own.sort(key=lambda flip: -abs(flip["after"] - flip["before"]))
        gained = [flip for flip in own if flip["after"] > flip["before"]]
        lost = [flip for flip in own if flip["after"] <= flip["before"]]
        lists = [
            (f"{title}: {plural(len(found), 'text')}", found[:AT_FIRST], found[AT_FIRST:MOST_TEXTS])
            for title, found in (("Now right", gained), ("Now wrong", lost))
            if found
        ]
        if lists:
            result.append(Flips(encoder, objective, lists))
    return result


def _title(facts: CompareFacts, encoder: str, title: str) -> str:
    return f"{encoder}: {title}" if len(facts.encoders) > 1 else title


def _baseline(facts: CompareFacts) -> str:
    """Its name, if a plot has room for it."""
    return facts.baseline if len(facts.baseline) <= 20 else "the baseline"


def _alone(facts: CompareFacts, encoder: str, title: str) -> str:
    """Figures that differ in their encoder alone are called by its name."""
    return encoder if len(facts.encoders) > 1 else title


def _is(row: Mapping[str, object], objective: str, encoder: str) -> bool:
    return bool(row["objective"] == objective and row["encoder"] == encoder)


def _itself(facts: CompareFacts, encoder: str) -> Difference:
    """The baseline against itself: nothing differs. With its line, both plots show the same
    objectives.
    """
    return Difference(
        objective=facts.baseline,
        encoder=encoder,
        metric=facts.metric,
        mean=0.0,
        low=0.0,
        high=0.0,
        p_value=1.0,
        adjusted=1.0,
        over_texts=False,
    )


def _intervals(facts: CompareFacts, found: Sequence[Difference]) -> str:
    """What the strokes and the filled dots of the forest mean."""
    better = "left" if facts.metric in facts.lower_is_better else "right"
    bounded = [d for d in found if math.isfinite(d["low"]) and math.isfinite(d["high"])]
    if not bounded:
        return f"Paired by seed; too few seeds for intervals. Further {better} is better."
    over = sorted({interval_over(facts, d) for d in bounded})
    of = over[0] if "and" in over[0] else f"{over[0]} alone"
    if len(over) > 1:
        of = "seeds, some over texts too"
    return (
        f"Paired by seed, {facts.confidence:.0%} intervals over {of}, not corrected for the number"
        f" of objectives. Filled: p < {forest.SURE} after Holm's correction. Further {better} is"
        " better."
    )


def _gains(facts: CompareFacts, difference: Floats, spread: Floats) -> Iterator[Figure]:
    """Bars of all labels or of both ends of their order; with the latter, a curve of all."""
    order = np.argsort(-difference, kind="stable")  # what is undefined comes last
    order = order[: np.isfinite(difference).sum()]
    title = f"F1 minus that of {_baseline(facts)}"
    shown, line = order, "Every label; strokes are standard deviations over seeds."
    if len(order) > MOST_BARS:
        half = MOST_BARS // 2
        up, down = order[difference[order] > 0][:half], order[difference[order] < 0][-half:]
        shown = np.concatenate([up, down])
        line = (
            f"The {plural(len(up), 'label')} that gained most and the {len(down)} that lost most."
        )
    if len(shown):
        names = [facts.label_names[i] for i in shown]
        yield Figure(
            "Who gains, who loses?",
            contrast_plots.gains(names, difference[shown], spread[shown], title=title),
            line,
        )
    if len(order) > MOST_BARS:
        gained, lost = int(np.sum(difference[order] > 0)), int(np.sum(difference[order] < 0))
        line = (
            f"{plural(gained, 'label')} gained, {lost:,} lost, {len(order) - gained - lost:,}"
            " stayed."
        )
        yield Figure("All labels", contrast_plots.all_gains(difference[order], title=title), line)


def _best_value(facts: CompareFacts, lines: Sequence[Sweep], rule: float | None) -> str:
    """The best value of every objective, and what dashes and bands are."""
    best = np.nanargmin if facts.metric in facts.lower_is_better else np.nanargmax
    found = [(row, int(best(np.asarray(row["means"], float)))) for row in lines]
    said = ", ".join(
        f"{row['objective']} at {row['values'][i]:g} ({number(float(row['means'][i]))})"
        for row, i in found
    )
    dashed = "" if rule is None else f" Dashed: {facts.baseline} ({number(rule)})."
    return f"Best: {said}.{dashed} Bands are standard deviations over seeds."


def _series(curves: Sequence[Curve], objective: str, kind: str) -> list[tuple[Values, Values]]:
    """(steps, values) of every seed of an objective that has any."""
    own = [row for row in curves if row["objective"] == objective]
    pairs = [(row["steps"], row["scores"] if kind == "scores" else row["losses"]) for row in own]
    return [
        (steps, values) for steps, values in pairs if np.isfinite(np.asarray(values, float)).any()
    ]
