"""The report of one training run."""

from collections.abc import Iterator

import numpy as np

from tagwright import toml
from tagwright.report import plots
from tagwright.report.facts import FitFacts, PerLabel, refitted
from tagwright.report.page import (
    MOST_ROWS,
    Card,
    Cell,
    Figure,
    Table,
    duration,
    metric_name,
    number,
    part_name,
    plural,
    render,
)

KEY_METRICS = {
    True: ("accuracy", "macro_f1", "weighted_f1", "lrap"),
    False: ("micro_f1", "macro_f1", "lrap", "example_f1", "subset_accuracy"),
}
NOTES = {"lrap": "label-ranking precision", "subset_accuracy": "all labels of a text right"}
COLUMNS = {
    "f1": "harmonic mean of precision and recall",
    "precision": "of the texts given this label, the share that has it",
    "recall": "of the texts that have this label, the share that was given it",
    "support": "texts of {split} that have the label",
    "predicted": "texts of {split} that were given the label",
    "threshold": "a text gets the label when its score is above",
}
RARE = 10  # texts in train; below, a score says little


def fit_report(facts: FitFacts) -> str:
    """One self-contained HTML page. It quotes texts of the data: keep it with the run.

    Two or many thousand labels: beyond 2,000 the table shows the most frequent, and plots summarise.
    """
    return render(
        "fit.html.j2",
        facts=facts,
        lead=_lead(facts),
        cards=_cards(facts),
        again=None if facts.refitted_on is None else refitted(facts.refitted_on),
        settings=toml.dumps(facts.settings) if facts.settings else None,
        tail=Figure("How often each label comes", plots.long_tail(facts.label_names, facts.label_counts), _tail(facts)),
        labels=None if facts.per_label is None else _label_table(facts, facts.per_label),
        label_notes=[] if facts.per_label is None else _label_notes(facts, facts.per_label),
        curves=list(_curves(facts)),
        by_frequency=list(_by_frequency(facts)),
        decisions=list(_decisions(facts)),
    )


def _lead(facts: FitFacts) -> str:
    encoder, objective = part_name(facts.settings, "encoder"), part_name(facts.settings, "objective")
    kind = "Each text gets exactly one of" if facts.exclusive else "Each text gets any number of"
    made = " and ".join([f"the {encoder} encoder"] * bool(encoder) + [f"the {objective} objective"] * bool(objective))
    on = f" on {plural(facts.split_sizes['train'], 'text')}" if "train" in facts.split_sizes else ""
    time = f" in {duration(facts.seconds)}" if facts.seconds is not None else ""
    trained = f" Trained{on}{f' with {made}' if made else ''}{time}." if on or made or time else ""
    return f"{kind} {plural(len(facts.label_names), 'label')}.{trained}"


def _cards(facts: FitFacts) -> list[Card]:
    shown = [name for name in KEY_METRICS[facts.exclusive] if name in facts.metrics][:4] or list(facts.metrics)[:4]
    where = f"on {facts.split}"
    cards = [Card(metric_name(name), number(facts.metrics[name]), NOTES.get(name, where)) for name in shown]
    if facts.per_label is not None and "predicted" in facts.per_label:
        found = int(np.sum(np.asarray(facts.per_label["predicted"]) > 0))
        cards.append(Card("labels in use", f"{found:,}", f"of {len(facts.label_names):,}, {where}"))
    if facts.seconds is not None:
        cards.append(Card("training time", duration(facts.seconds)))
    return cards


def _tail(facts: FitFacts) -> str:
    counts = np.sort(np.asarray(facts.label_counts, float))[::-1]
    head = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) + 1
    rare = int(np.sum(counts < RARE))
    half = f"Half of all label marks fall on {plural(head, 'label')} of {len(counts):,}"
    few = f" Fewer than {RARE} texts: {plural(rare, 'label')}." if rare else ""
    return f"{half}; the rarest has {int(counts[-1]):,}.{few}"


def _curves(facts: FitFacts) -> Iterator[Figure]:
    """Loss and score over the steps, where the history holds them."""
    history = [row for row in facts.history or () if np.isfinite(row.get("loss", np.nan))]
    if history:
        steps, losses = [row["step"] for row in history], [row["loss"] for row in history]
        svg = plots.lines({"loss": (steps, losses)}, x_title="step", y_title="training loss")
        yield Figure(
            "Does it learn?", svg, f"Training loss: {number(losses[0])} at first, {number(losses[-1])} at last."
        )
    scored = [row for row in facts.history or () if np.isfinite(row.get("score", np.nan))]
    if not scored:
        return
    steps, scores = [row["step"] for row in scored], [row["score"] for row in scored]
    name = metric_name(facts.watched)
    best = next((row for row in scored if row["step"] == facts.best_step), None)
    marked = (best["step"], best["score"], f"{best['score']:.3f}") if best else None
    svg = plots.lines({name: (steps, scores)}, x_title="step", y_title=f"{name} on {facts.split}", marked=marked)
    kept = f"Best at step {best['step']:,}: that model was kept." if best else ""
    yield Figure("Does it help on texts it has not seen?", svg, kept)


def _label_table(facts: FitFacts, scores: PerLabel) -> Table:
    """A row a label, most frequent first."""
    order = np.argsort(-np.asarray(facts.label_counts, float), kind="stable")[:MOST_ROWS]
    arrays = {name: np.asarray(values, np.float64) for name, values in scores.items()}
    present = [name for name in COLUMNS if name in arrays]
    columns = [("label", ""), ("train", "texts of train that have the label")]
    columns += [(name.replace("f1", "F1"), COLUMNS[name].format(split=facts.split)) for name in present]
    rows = []
    for i in order:
        count = int(facts.label_counts[i])
        cells = [Cell(facts.label_names[i]), Cell(number(count), count)]
        rows.append([*cells, *(_score(name, float(arrays[name][i])) for name in present)])
    return Table(columns=columns, rows=rows, sorted_by=1, left_out=len(facts.label_names) - len(rows))


def _score(name: str, value: float) -> Cell:
    """A cell of the label table; what is undefined sorts below everything."""
    if np.isnan(value):
        return Cell("–", -1.0)
    if name in ("support", "predicted"):
        return Cell(number(int(value)), value, mark="alert" if name == "predicted" and value == 0 else "")
    return Cell(f"{value:.3f}", value, share=value if name == "f1" else None)


def _label_notes(facts: FitFacts, scores: PerLabel) -> list[str]:
    support = np.asarray(scores["support"], float) if "support" in scores else np.ones(len(facts.label_names))
    notes = []
    if "predicted" in scores and (silent := int(np.sum((np.asarray(scores["predicted"]) == 0) & (support > 0)))):
        notes.append(f"Never predicted though {facts.split} has them: {plural(silent, 'label')}.")
    if absent := int(np.sum(support == 0)):
        notes.append(f"Not in {facts.split}, so of unknown quality: {plural(absent, 'label')}.")
    return notes


def _by_frequency(facts: FitFacts) -> Iterator[Figure]:
    if sum(band["labels"] > 0 for band in facts.bands or ()) > 1:
        caption = "Bands by the number of texts in train. Macro-F1 counts every label alike, micro-F1 every decision."
        yield Figure("Do rare labels work?", plots.band_scores(facts.bands or ()), caption)
    if facts.per_label is not None and len(facts.label_names) >= 8:
        svg = plots.scatter(facts.label_counts, facts.per_label["f1"], x_title="texts in train", y_title="F1")
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
        centres, observed, weight = (np.asarray(bins[key], np.float64) for key in ("centres", "observed", "counts"))
        error = float(np.nansum(weight * np.abs(centres - observed)) / max(np.nansum(weight), 1.0))
        caption = f"On the diagonal, probabilities mean what they say. They are off by {number(error)} on average."
        yield Figure("Can the probabilities be trusted?", plots.reliability(bins), caption)
