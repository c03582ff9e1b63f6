"""Facts of a report that are drawn from metrics: scores of labels, curves, what was confused."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tagwright.inference.model import TrainedHead
from tagwright.labels.shortlist import ShortScores
from tagwright.links import probabilities
from tagwright.metrics import Measures
from tagwright.metrics.bands import band_masks
from tagwright.reports.facts import (
    Band,
    Confused,
    PerLabel,
    ReliabilityBins,
    ThresholdCurve,
)
from tagwright.training.fitted import Fitted
from tagwright.training.prepared import Prepared


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


def threshold_curve(prepared: Prepared, fitted: Fitted) -> ThresholdCurve | None:
    """Micro- and macro-F1 on dev if one probability were the bar for all; None for one label a
    text, and shortlists.
    """
    [(head, _, scores)] = fitted.heads.values()
    if head.space.exclusive or isinstance(scores, ShortScores):
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
        chosen = scores.probabilities > bar
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
