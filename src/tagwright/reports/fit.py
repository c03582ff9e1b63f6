"""The report of one training run."""

from collections.abc import Iterator

import numpy as np

from tagwright.metrics import shown_first
from tagwright.reports import plots
from tagwright.reports.facts import FitFacts, refitted
from tagwright.reports.page import (
    Card,
    Figure,
    duration,
    metric_name,
    number,
    part_name,
    plural,
    render,
    score_notes,
    score_table,
)
from tagwright.reports.tags import page_of_tags
from tagwright.storage import toml

KEY_METRICS = {
    True: ("accuracy", "macro_f1", "weighted_f1", "lrap"),
    False: ("micro_f1", "macro_f1", "lrap", "example_f1", "subset_accuracy"),
}
NOTES = {"lrap": "label-ranking precision", "subset_accuracy": "all labels of a text right"}
COLUMNS = {
    "f1": ("F1", "harmonic mean of precision and recall"),
    "precision": ("precision", "of the texts given this label, the share that has it"),
    "recall": ("recall", "of the texts that have this label, the share that was given it"),
    "support": ("support", "texts of {split} that have the label"),
    "predicted": ("predicted", "texts of {split} that were given the label"),
    "threshold": ("threshold", "a text gets the label when its score is above"),
}
RARE = 10  # texts in train; below, a score says little


def fit_report(facts: FitFacts) -> str:
    """One self-contained HTML page. It quotes texts of the data: keep it with the run.

    Two or many thousand labels: beyond 2,000 the table shows the most frequent, and plots
    summarize.
    """
    own = _of_texts(facts) if facts.tags is None else page_of_tags(facts, facts.tags)
    return render(
        "fit.html.j2",
        facts=facts,
        lead=f"{own.pop('kind')}.{_trained(facts)}",
        again=None if facts.refitted_on is None else refitted(facts.refitted_on),
        settings=toml.dumps(facts.settings) if facts.settings else None,
        decisions=list(_decisions(facts)),
        **own,
    )


def _of_texts(facts: FitFacts) -> dict[str, object]:
    """What the page of a model that tags whole texts shows."""
    split, names, scores, sizes = facts.split, facts.label_names, facts.per_label, facts.split_sizes
    columns = {name: (title, line.format(split=split)) for name, (title, line) in COLUMNS.items()}
    table, notes = None, []
    if scores is not None:
        counted = "texts of train that have the label"
        table = score_table(
            names, scores, columns, what="label", counts=facts.label_counts, counted=counted
        )
        notes = score_notes(scores, what="label", split=split)
    many = "exactly one" if facts.exclusive else "any number"
    return {
        "kind": f"Each text gets {many} of {plural(len(names), 'label')}",
        "cards": _cards(facts),
        "where": f"{split} ({number(sizes[split])} texts)" if split in sizes else split,
        "metrics": [(metric_name(name), number(value)) for name, value in facts.metrics.items()],
        "sizes": {name: number(rows) for name, rows in sizes.items()},
        "tail": _tail(facts),
        "curves": list(_curves(facts)),
        "by_frequency": list(_by_frequency(facts)),
        "labels": table,
        "label_notes": notes,
    }


def _trained(facts: FitFacts) -> str:
    encoder, objective = (
        part_name(facts.settings, "encoder"),
        part_name(facts.settings, "objective"),
    )
    made = " and ".join(
        [f"the {encoder} encoder"] * bool(encoder)
        + [f"the {objective} objective"] * bool(objective)
    )
    on = f" on {plural(facts.split_sizes['train'], 'text')}" if "train" in facts.split_sizes else ""
    time = f" in {duration(facts.seconds)}" if facts.seconds is not None else ""
    said = f"{on}{f' with {made}' if made else ''}{time}"
    return f" Trained{said}." if said else ""


def _cards(facts: FitFacts) -> list[Card]:
    shown = [name for name in KEY_METRICS[facts.exclusive] if name in facts.metrics][:4] or list(
        facts.metrics
    )[:4]
    shown += [name for name in shown_first() if name in facts.metrics and name not in shown]
    where = f"on {facts.split}"
    cards = [
        Card(metric_name(name), number(facts.metrics[name]), NOTES.get(name, where))
        for name in shown
    ]
    if facts.per_label is not None and "predicted" in facts.per_label:
        found = int(np.sum(np.asarray(facts.per_label["predicted"]) > 0))
        cards.append(Card("labels in use", f"{found:,}", f"of {len(facts.label_names):,}, {where}"))
    if facts.seconds is not None:
        cards.append(Card("training time", duration(facts.seconds)))
    return cards


def _tail(facts: FitFacts) -> Figure:
    counts = np.sort(np.asarray(facts.label_counts, float))[::-1]
    head = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) + 1
    rare = int(np.sum(counts < RARE))
    half = f"Half of all label marks fall on {plural(head, 'label')} of {len(counts):,}"
    few = f" Fewer than {RARE} texts: {plural(rare, 'label')}." if rare else ""
    svg = plots.long_tail(facts.label_names, facts.label_counts)
    caption = f"{half}; the rarest has {int(counts[-1]):,}.{few}"
    return Figure("How often each label comes", svg, caption)


def _curves(facts: FitFacts) -> Iterator[Figure]:
    """Loss and score over the steps, where the history holds them."""
    history = [row for row in facts.history or () if np.isfinite(row.get("loss", np.nan))]
    if history:
        steps, losses = [row["step"] for row in history], [row["loss"] for row in history]
        svg = plots.lines({"loss": (steps, losses)}, x_title="step", y_title="training loss")
        yield Figure(
            "Does it learn?",
            svg,
            f"Training loss: {number(losses[0])} at first, {number(losses[-1])} at last.",
        )
    scored = [row for row in facts.history or () if np.isfinite(row.get("score", np.nan))]
    if not scored:
        return
    steps, scores = [row["step"] for row in scored], [row["score"] for row in scored]
    name = metric_name(facts.watched)
    best = next((row for row in scored if row["step"] == facts.best_step), None)
    marked = (best["step"], best["score"], f"{best['score']:.3f}") if best else None
    svg = plots.lines(
        {name: (steps, scores)}, x_title="step", y_title=f"{name} on {facts.split}", marked=marked
    )
    kept = f"Best at step {best['step']:,}: that model was kept." if best else ""
    yield Figure("Does it help on texts it has not seen?", svg, kept)


def _by_frequency(facts: FitFacts) -> Iterator[Figure]:
    if sum(band["labels"] > 0 for band in facts.bands or ()) > 1:
        caption = (
            "Bands by the number of texts in train. Macro-F1 counts every label alike, micro-F1"
            " every decision."
        )
        yield Figure("Do rare labels work?", plots.band_scores(facts.bands or ()), caption)
    if facts.per_label is not None and len(facts.label_names) >= 8:
        svg = plots.scatter(
            facts.label_counts, facts.per_label["f1"], x_title="texts in train", y_title="F1"
        )
        yield Figure("F1 of every label", svg, "One dot a label.")


def _decisions(facts: FitFacts) -> Iterator[Figure]:
    """Threshold and calibration plots, where there are any: argmax has no threshold."""
    if (curve := facts.threshold_curve) is not None:
        steps, chosen = curve["thresholds"], curve.get("chosen")
        series = {"macro-F1": (steps, curve["macro_f1"]), "micro-F1": (steps, curve["micro_f1"])}
        unit = f"one threshold for all labels ({curve.get('unit', 'probability')})"
        caption = "" if chosen is None else f"Dashed: {number(chosen)}, the chosen one."
        svg = plots.lines(series, x_title=unit, y_title="F1", rule=chosen)
        yield Figure("What does the threshold change?", svg, caption)
    own = np.asarray(facts.per_label.get("threshold", ()) if facts.per_label else (), np.float64)
    if len(np.unique(own[np.isfinite(own)])) >= 8:
        svg = plots.scatter(facts.label_counts, own, x_title="texts in train", y_title="threshold")
        yield Figure("Each label's own threshold", svg, "One dot a label.")
    if (bins := facts.calibration) is not None:
        centers, observed, weight = (
            np.asarray(bins[key], np.float64) for key in ("centers", "observed", "counts")
        )
        error = float(np.nansum(weight * np.abs(centers - observed)) / max(np.nansum(weight), 1.0))
        caption = (
            f"On the diagonal, probabilities mean what they say. They are off by {number(error)} on"
            " average."
        )
        if facts.tags is not None:
            caption += " Every tag of every token counts, and most are near 0."
        yield Figure("Can the probabilities be trusted?", plots.reliability(bins), caption)
