"""What the report of a model that tags tokens shows: spans by type, tokens by tag."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from tagwright.reports import plots
from tagwright.reports.facts import FitFacts, PerLabel, TagFacts, Values
from tagwright.reports.figures import MEASURES, figures_of_tags
from tagwright.reports.page import (
    Card,
    Cell,
    Figure,
    Table,
    duration,
    metric_name,
    number,
    plural,
    score_notes,
    score_table,
)
from tagwright.reports.plots import MUTED, chart_of_rows, colors, draw, load_altair
from tagwright.reports.short_names import short_names

Course = Literal["score", "entity_f1", "macro_f1", "macro_f2"]
KEY_METRICS = ("entity_f1", "entity_f2", "entity_precision", "entity_recall", "macro_f1_without_o")
OF_CLASSES = ("accuracy", "macro_f1", "macro_f2", "weighted_f1")  # where tags tell of no spans
OTHERS = ("accuracy", "calibration_error")  # what is no F1, F2, precision or recall
COURSES: tuple[Course, ...] = (
    "entity_f1",
    "macro_f1",
    "macro_f2",
)  # beside the score; the first is of spans
NAMES = {"macro_f1_without_o": "token macro-F1"}  # a key figure has one line
NOTES = {"macro_f1_without_o": "all tags but O", "accuracy": "tokens that are right"}


def page_of_tags(facts: FitFacts, tags: TagFacts) -> dict[str, object]:
    """What the template is told beside the facts."""
    scores, spans = facts.per_label, tags.per_type
    return {
        "kind": _kind(facts, tags),
        "cards": _cards(facts, tags),
        "where": f"{facts.split}, {_size(tags, facts, facts.split)}",
        "figures": _figures(facts),
        "metrics": [
            (metric_name(name), number(facts.metrics[name]))
            for name in OTHERS
            if name in facts.metrics
        ],
        "sizes": {name: _size(tags, facts, name) for name in facts.split_sizes},
        "tail": _tail(facts, tags),
        "curves": list(_curves(facts, COURSES if spans is not None else COURSES[1:])),
        "amounts": list(_amounts(facts, tags)),
        "types": None if spans is None else _type_table(facts, tags, spans),
        "type_notes": [] if spans is None else score_notes(spans, what="type", split=facts.split),
        "labels": None if scores is None else _tag_table(facts, scores),
        "label_notes": [] if scores is None else score_notes(scores, what="tag", split=facts.split),
    }


def size_of(tokens: int, texts: int) -> str:
    """How much was tagged.

    >>> size_of(14378, 495)
    '14,378 tokens of 495 texts'
    """
    return f"{plural(tokens, 'token')} of {plural(texts, 'text')}"


def _size(tags: TagFacts, facts: FitFacts, split: str) -> str:
    return size_of(tags.tokens.get(split, 0), facts.split_sizes.get(split, 0))


def _kind(facts: FitFacts, tags: TagFacts) -> str:
    if tags.per_type is None:
        return f"Each token gets exactly one of {plural(len(facts.label_names), 'tag')}"
    return (
        f"Finds spans of {plural(len(tags.types), 'type')} in texts, by"
        f" {plural(len(facts.label_names), 'tag')}"
    )


def _cards(facts: FitFacts, tags: TagFacts) -> list[Card]:
    where, spans = f"on {facts.split}", tags.per_type
    shown = [
        name for name in (OF_CLASSES if spans is None else KEY_METRICS) if name in facts.metrics
    ]
    usual = where if spans is None else "whole spans"
    cards = [
        Card(
            NAMES.get(name) or metric_name(name),
            number(facts.metrics[name]),
            NOTES.get(name, usual),
        )
        for name in shown
    ]
    if spans is not None and "predicted" in spans:
        found = int(np.sum(np.asarray(spans["predicted"]) > 0))
        cards.append(Card("types found", f"{found:,}", f"of {len(tags.types):,}, {where}"))
    if facts.seconds is not None:
        cards.append(Card("training time", duration(facts.seconds)))
    return cards


def _figures(facts: FitFacts) -> Table:
    rows = [
        [
            Cell(counted),
            Cell(f"{f1:.3f}", f1, share=f1),
            *(Cell(f"{value:.3f}", value) for value in others),
        ]
        for counted, (f1, *others) in figures_of_tags(facts.metrics, facts.label_names)
    ]
    return Table(
        columns=[("counted", ""), *((title, "") for title in MEASURES.values())],
        rows=rows,
        sorted_by=None,
    )


def _tail(facts: FitFacts, tags: TagFacts) -> Figure:
    """Spans of every type, or tokens of every tag but O, which would dwarf the others."""
    counts, names = np.asarray(facts.label_counts, float), list(facts.label_names)
    outside = names.index("O") if "O" in names else None
    share = (
        ""
        if outside is None
        else f"{counts[outside] / max(counts.sum(), 1):.0%} of train's tokens are O."
    )
    if tags.type_counts is not None:
        svg = plots.long_tail(tags.types, tags.type_counts, title="spans in train")
        return Figure("How often each type comes", svg, share)
    kept = [place for place in range(len(names)) if place != outside]
    svg = plots.long_tail([names[place] for place in kept], counts[kept], title="tokens in train")
    return Figure("How often each tag comes", svg, share)


def _curves(facts: FitFacts, courses: tuple[Course, ...]) -> Iterator[Figure]:
    """Loss, and the score with what stands beside it, by epoch."""
    rows = [row for row in facts.history or () if "epoch" in row]
    losses = [(row["epoch"], row["loss"]) for row in rows if np.isfinite(row.get("loss", np.nan))]
    if losses:
        epochs, values = zip(*losses)
        svg = plots.lines({"loss": (epochs, values)}, x_title="epoch", y_title="training loss")
        caption = f"Training loss: {number(values[0])} at first, {number(values[-1])} at last."
        yield Figure("Does it learn?", svg, caption)
    named: dict[str, Course] = {facts.watched: "score"}
    named |= {name: name for name in courses if name != facts.watched}
    points = {
        metric_name(name): [
            (row["epoch"], row[key]) for row in rows if np.isfinite(row.get(key, np.nan))
        ]
        for name, key in named.items()
    }
    series = {name: tuple(zip(*found)) for name, found in points.items() if found}
    if not series:
        return
    best = {name: _best(points[name]) for name in series}
    kept = next((row for row in rows if row["step"] == facts.best_step), None)
    if kept is not None and np.isfinite(kept.get("score", np.nan)):
        best[metric_name(facts.watched)] = (kept["epoch"], kept["score"])  # lower may be better
    rule = None if kept is None else kept["epoch"]
    svg = plots.lines(series, x_title="epoch", y_title=f"on {facts.split}", rule=rule, best=best)  # type: ignore[arg-type]
    yield Figure("Does it help on texts it has not seen?", svg, _best_words(best, rule))


def _best(points: list[tuple[float, float]]) -> tuple[float, float]:
    """The highest, the last of equals."""
    return max(reversed(points), key=lambda point: point[1])


def _best_words(best: dict[str, tuple[float, float]], kept: float | None) -> str:
    each = ", ".join(f"{name} {value:.3f} at {epoch:g}" for name, (epoch, value) in best.items())
    dashed = "" if kept is None else f" Dashed: epoch {kept:g}, the model that was kept."
    return f"Rings, the best of each by epoch: {each}.{dashed}"


def _amounts(facts: FitFacts, tags: TagFacts) -> Iterator[Figure]:
    if tags.per_type is not None:
        yield _paired("Spans of every type", tags.types, tags.per_type, f"spans of {facts.split}")
    if facts.per_label is not None:
        names = list(facts.label_names)
        kept = [place for place, name in enumerate(names) if name != "O"]
        scores = {key: np.asarray(facts.per_label[key])[kept] for key in ("support", "predicted")}
        words = ""
        if "O" in names:
            outside = names.index("O")
            true, found = (int(facts.per_label[key][outside]) for key in ("support", "predicted"))
            words = f"O is left out: {number(true)} true, {number(found)} predicted."
        named = [names[place] for place in kept]
        yield _paired("Tokens of every tag", named, scores, f"tokens of {facts.split}", words)


def _paired(
    title: str, names: Sequence[str], scores: Mapping[str, object], axis: str, words: str = ""
) -> Figure:
    true, predicted = (np.asarray(scores[key], float) for key in ("support", "predicted"))
    order = np.argsort(-true, kind="stable")[: plots.MOST_BARS]
    most = "" if len(order) == len(names) else f"The {len(order)} most frequent of {len(names):,}."
    svg = amounts([names[i] for i in order], true[order], predicted[order], title=axis)
    return Figure(title, svg, " ".join(part for part in (most, words) if part))


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


def _columns(what: str, mark: str, split: str) -> dict[str, tuple[str, str]]:
    return {
        "f1": ("F1", "harmonic mean of precision and recall"),
        "f2": ("F2", "as F1, with recall counting twice as much"),
        "precision": (
            "precision",
            f"of the {what} predicted with this {mark}, the share that has it",
        ),
        "recall": ("recall", f"of the {what} with this {mark}, the share that was predicted so"),
        "support": ("true", f"{what} of {split} with this {mark}"),
        "predicted": ("predicted", f"{what} of {split} predicted with this {mark}"),
    }


def _type_table(facts: FitFacts, tags: TagFacts, scores: PerLabel) -> Table:
    columns, counted = _columns("spans", "type", facts.split), "spans of train with this type"
    return score_table(
        tags.types, scores, columns, what="type", counts=tags.type_counts, counted=counted
    )


def _tag_table(facts: FitFacts, scores: PerLabel) -> Table:
    columns, counted = _columns("tokens", "tag", facts.split), "tokens of train with this tag"
    return score_table(
        facts.label_names, scores, columns, what="tag", counts=facts.label_counts, counted=counted
    )
