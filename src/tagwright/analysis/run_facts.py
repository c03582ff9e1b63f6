"""What a report and a model card are told of a run."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tagwright.analysis.tag_facts import confused_tokens, examples, examples_of, tag_facts
from tagwright.inference.model import Model, TrainedHead
from tagwright.inference.model_folder import versions
from tagwright.inference.score import Scored
from tagwright.labels.shortlist import ShortScores
from tagwright.links import probabilities
from tagwright.metrics import Measures
from tagwright.metrics.bands import band_masks
from tagwright.models.shortlist import left_out
from tagwright.reports.facts import (
    Band,
    CardFacts,
    Confused,
    FitFacts,
    HeadFacts,
    PerLabel,
    ReliabilityBins,
    TagFacts,
    ThresholdCurve,
)
from tagwright.settings.sections import HEADS
from tagwright.training.decided import Fitted
from tagwright.training.prepared import Prepared


def decision_of(head: TrainedHead) -> str:
    """A sentence: how scores become labels, or tags of tokens."""
    said: str = head.decision.describe()
    return said


def fit_facts(prepared: Prepared, fitted: Fitted) -> FitFacts:
    """Everything the report of a run with one head shows, the example texts among it."""
    head, dev = fitted.model.primary, prepared.tables["dev"]
    space, tagged = head.space, prepared.tagged
    best = max(
        reversed(fitted.history), key=lambda row: fitted.watch.sign * row["score"], default=None
    )
    return FitFacts(
        title=(
            f"{fitted.settings.encoder.name} with {fitted.settings.objective} on {prepared.source}"
        ),
        label_names=space.names,
        label_counts=np.array(space.counts),
        exclusive=space.exclusive,
        metrics=head.metrics["metrics"],
        refitted_on=refitted_on(prepared, fitted),
        settings=fitted.settings.as_dict(),
        data_found=prepared.found,
        split_sizes={name: table.num_rows for name, table in prepared.tables.items()},
        dropped=prepared.dropped,
        history=fitted.history,  # type: ignore[arg-type]
        watched=fitted.metric,
        best_step=int(best["step"]) if best else None,
        per_label=per_label(fitted.measures, head),
        bands=None if tagged else bands(space.counts, head.metrics["metrics"]),
        threshold_curve=threshold_curve(prepared, fitted, head),
        confused=(confused_tokens if tagged else confused)(fitted.measures, space.names, dev),
        calibration=calibration(fitted.measures),
        seconds=fitted.seconds,
        versions=versions(),
        warnings=[*left_out(head.part, len(space)), *warnings(prepared, head)],
        tags=_tags(prepared, fitted),
        examples=examples(dev, space, fitted.dev.chosen.argmax(1)) if tagged else (),
    )


def card_facts(prepared: Prepared, fitted: Fitted) -> CardFacts:
    """What the model card says; no text of the data is among it."""
    head = fitted.model.primary
    found = head.metrics["metrics"]
    return CardFacts(
        title=f"{fitted.settings.encoder.name} with {fitted.settings.objective}",
        label_names=head.space.names,
        label_counts=np.array(head.space.counts),
        exclusive=head.space.exclusive,
        metrics=found,
        refitted_on=refitted_on(prepared, fitted),
        decision=decision_of(head),
        settings=fitted.settings.as_dict(),
        split_sizes={name: table.num_rows for name, table in prepared.tables.items()},
        per_label=per_label(fitted.measures, head),
        bands=None if prepared.tagged else bands(head.space.counts, found),
        nothing_predicted=float((~fitted.dev.chosen.any(1)).mean()),
        seconds=fitted.seconds,
        versions=versions(),
        tags=_tags(prepared, fitted),
    )


def _objective_of(model: Model) -> str:
    """What the first head was trained by."""
    head = model.record.resolved.get(HEADS, {}).get(model.first, {})
    return str(head.get("objective", model.record.objective))


def other_facts(name: str, head: TrainedHead) -> HeadFacts:
    """One of several heads, in short."""
    return HeadFacts(
        name=name,
        label_count=len(head.space),
        exclusive=head.space.exclusive,
        tags_tokens=head.tags_tokens,
        decision=decision_of(head),
        metrics=head.metrics.get("metrics", {}),
        split=head.metrics.get("split"),
    )


def _tags(prepared: Prepared, fitted: Fitted) -> TagFacts | None:
    if not prepared.tagged:
        return None
    tokens = {name: len(sheet.tags) for name, sheet in prepared.sheets.items()}
    return tag_facts(fitted.measures, prepared.space, tokens, fitted.settings.data.cut)


def refitted_on(prepared: Prepared, fitted: Fitted) -> int | None:
    """How many texts of train and dev the saved model was trained on again, after it was measured;
    None: it was not.
    """
    rows = sum(prepared.tables[name].num_rows for name in ("train", "dev"))
    return rows if fitted.settings.fit.refit else None


def score_facts(model: Model, scored: Scored, table: pa.Table, source: str) -> FitFacts:
    """What a report shows of a trained model on labelled data, the `table` that was scored; texts
    of it among it.
    """
    head, tokens = model.primary, scored.tokens
    results = scored.as_dict()["metrics"]
    return FitFacts(
        title=f"{model.inference.encoder.name} with {_objective_of(model)} on {source}",
        label_names=head.space.names,
        label_counts=np.array(head.space.counts),
        exclusive=head.space.exclusive,
        metrics=results,
        split=scored.split,
        settings=dict(model.record.resolved),
        split_sizes={scored.split: scored.rows},
        per_label=per_label(scored.measures, head),
        bands=bands(head.space.counts, results) if tokens is None else None,
        confused=(confused if tokens is None else confused_tokens)(
            scored.measures, scored.label_names, table
        ),
        calibration=calibration(scored.measures),
        versions=versions(),
        warnings=left_out(head.part, len(head.space)),
        tags=(
            None
            if tokens is None
            else tag_facts(
                scored.measures, head.space, {scored.split: tokens}, model.inference.data.cut
            )
        ),
        examples=() if tokens is None else examples_of(model, table),
    )


def per_label(measures: Measures, head: TrainedHead) -> PerLabel:
    """Scores of every label, and its threshold as a probability where it has one."""
    result: PerLabel = {**measures.states["counts"].per_label()}
    thresholds = head.decision.thresholds
    if thresholds is not None:
        own = np.broadcast_to(thresholds, len(head.space))
        result["threshold"] = probabilities(own[None], head.link, calibration=head.calibration)[0]
    return result


def bands(label_counts: Sequence[int], found: Mapping[str, float]) -> list[Band]:
    """TrainedHead, middle and tail with their F1."""
    counts = np.array(label_counts)
    return [
        Band(
            band=name,
            labels=int(inside.sum()),
            from_count=int(counts[inside].min()),
            to_count=int(counts[inside].max()),
            macro_f1=found[f"{name}_macro_f1"],
            micro_f1=found[f"{name}_micro_f1"],
        )
        for name, inside in band_masks(counts).items()
        if inside.any()
    ]


def threshold_curve(prepared: Prepared, fitted: Fitted, head: TrainedHead) -> ThresholdCurve | None:
    """Micro- and macro-F1 on dev if one probability were the bar for all; None for one label a
    text, and shortlists.
    """
    if head.space.exclusive or isinstance(fitted.dev, ShortScores):
        return None
    truth = (
        prepared.space.encode(prepared.tables["dev"]["labels"])
        .matrix(len(prepared.space))
        .toarray()
        > 0
    )
    grid = np.concatenate([[0.005, 0.01, 0.02, 0.03], np.linspace(0.05, 0.95, 19)])
    micro, macro = [], []
    for bar in grid:
        chosen = fitted.dev.probabilities > bar
        hits, either = (truth & chosen).sum(0), truth.sum(0) + chosen.sum(0)
        micro.append(2 * hits.sum() / max(either.sum(), 1))
        macro.append(float((2 * hits / np.maximum(either, 1)).mean()))
    chosen_bar = head.decision.probability
    return ThresholdCurve(
        thresholds=grid, micro_f1=np.array(micro), macro_f1=np.array(macro), chosen=chosen_bar
    )


def calibration(measures: Measures) -> ReliabilityBins | None:
    """Mean probability against how often it was right, the empty bins left out; None where not all
    are known.
    """
    if "calibration" not in measures.states:
        return None
    curve = measures.states["calibration"].reliability()
    filled = curve["count"] > 0
    return ReliabilityBins(
        centers=curve["confidence"][filled],
        observed=curve["frequency"][filled],
        counts=curve["count"][filled],
    )


def confused(measures: Measures, names: Sequence[str], table: pa.Table) -> list[Confused]:
    """The most confused pairs of labels, each with texts of the table."""
    return [
        Confused(
            true=names[pair.missed],
            chosen=names[pair.wrong],
            count=pair.times,
            examples=[table["text"][row].as_py() for row in pair.rows],
        )
        for pair in measures.states["confusion"].top(15)
    ]


def warnings(prepared: Prepared, head: TrainedHead) -> list[str]:
    """Sentences a person should read before trusting the figures."""
    result = list(prepared.warnings)
    rare = sum(count < 10 for count in head.space.counts)
    labels, texts = ("tags", "tokens") if prepared.tagged else ("labels", "texts")
    if rare:
        result.append(
            f"{rare} of {len(head.space)} {labels} have fewer than 10 {texts} in train; their"
            " scores mean little."
        )
    found = head.metrics["metrics"]
    if prepared.tagged and found.get("micro_recall_without_o") == 0:
        result.append("No token gets any tag but O rightly: train longer, or look at the tags.")
    elif found.get("micro_recall") == 0:
        result.append("No label is ever predicted: train longer, or look at the label column.")
    return result
