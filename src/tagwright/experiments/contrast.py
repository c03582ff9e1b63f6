"""What sets objectives apart, label by label and text by text: from the choices that their runs
kept.
"""

from collections.abc import Sequence
from typing import TypeAlias, TypedDict

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Floats
from tagwright.experiments.ledger import Row, unpacked_bits
from tagwright.experiments.scored_run import BINS
from tagwright.labels.space import LabelSpace
from tagwright.metrics.bands import band_masks
from tagwright.reports.compare_facts import BandScore, Curve, Exchange, Flip, Gains, Reliability
from tagwright.reports.facts import ReliabilityBins

Rows: TypeAlias = Sequence[Row]  # finished runs of one objective on one encoder, by seed
MOST_PAIRS, MOST_FLIPS = 15, 100  # the report shows a few of them at first


class Place(TypedDict):
    """Whose runs these are."""

    objective: str
    encoder: str


def band_scores(place: Place, rows: Rows, counts: Sequence[int]) -> list[BandScore]:
    """Macro-F1 of frequent, middling and rare labels; none where a run has no such scores."""
    numbers, result = np.array(counts), list[BandScore]()
    for band, inside in band_masks(numbers).items():
        scores = [
            row["scored"][f"{band}_macro_f1"] for row in rows if f"{band}_macro_f1" in row["scored"]
        ]
        if inside.any() and scores:
            own = numbers[inside]
            result.append(
                BandScore(
                    **place,
                    band=band,
                    labels=int(inside.sum()),
                    from_count=int(own.min()),
                    to_count=int(own.max()),
                    macro_f1=float(np.mean(scores)),
                    spread=spread(scores),
                )
            )
    return result


def gains(place: Place, truth: Bools, chosen: Bools, base: Bools) -> Gains:
    """F1 of every label; truth (n, L), chosen and base (seeds, n, L) of the objective and the
    baseline, bool.

    Both have the same seeds in the same order.
    """
    own, other = _label_f1(truth, chosen), _label_f1(truth, base)
    spreads = (own - other).std(axis=0, ddof=1) if len(own) > 1 else np.zeros(truth.shape[1])
    return Gains(**place, f1=own.mean(axis=0), base=other.mean(axis=0), spread=spreads)


def _label_f1(truth: Bools, chosen: Bools) -> Floats:
    """F1 (seeds, L) of choices (seeds, n, L); 0 where a label is neither true nor chosen."""
    hits = np.stack([(truth & one).sum(0) for one in chosen])
    either = truth.sum(0) + chosen.sum(1)
    return np.divide(2 * hits, either, out=np.zeros(hits.shape), where=either > 0)


def curves(place: Place, rows: Rows) -> list[Curve]:
    """The course of every training that had evaluations."""
    found = ((row["seed"], row["course"]) for row in rows if row.get("course", {}).get("step"))
    return [
        Curve(
            **place,
            seed=seed,
            steps=np.array(course["step"], float),
            scores=np.array(course["score"], float),
            losses=np.array(course["loss"], float),
        )
        for seed, course in found
    ]


def reliability(place: Place, rows: Rows) -> list[Reliability]:
    """Probabilities against how often they held, all seeds together; [] where they are not
    known.
    """
    bins = [row["reliability"] for row in rows if row.get("reliability")]
    if not bins:
        return []
    count, confidence, frequency = (np.array([one[key] for one in bins], float) for key in BINS)
    total = count.sum(0)
    filled = total > 0
    means = [
        np.nansum(values * count, axis=0)[filled] / total[filled]
        for values in (confidence, frequency)
    ]
    error = [
        row["scored"]["calibration_error"] for row in rows if "calibration_error" in row["scored"]
    ]
    curve = ReliabilityBins(centers=means[0], observed=means[1], counts=total[filled])
    return [
        Reliability(**place, curve=curve, error=float(np.mean(error)) if error else float("nan"))
    ]


def exchanges(
    place: Place, truth: Bools, chosen: Bools, base: Bools, names: Sequence[str]
) -> list[Exchange]:
    """The pairs of labels whose confusion changed most; arrays as for `gains`."""
    before, after = _confused(truth, base), _confused(truth, chosen)
    apart = (after - before).tocoo()
    order = np.argsort(-np.abs(apart.data), kind="stable")[:MOST_PAIRS]
    missed, wrong = apart.row[order], apart.col[order]
    return [
        Exchange(
            **place,
            true=names[i],
            chosen=names[j],
            before=float(before[i, j]),
            after=float(after[i, j]),
        )
        for i, j in zip(missed.tolist(), wrong.tolist())
        if before[i, j] != after[i, j]
    ]


def _confused(truth: Bools, chosen: Bools) -> csr_array:
    """How many texts missed the row's label and wrongly got the column's, (L, L), mean over
    seeds.
    """
    total = csr_array((truth.shape[1], truth.shape[1]))
    for one in chosen:
        missed, wrong = csr_array(truth & ~one, dtype=float), csr_array(one & ~truth, dtype=float)
        total = total + missed.T @ wrong
    return csr_array(total / len(chosen))


def flips(
    place: Place,
    truth: Bools,
    chosen: Bools,
    base: Bools,
    names: Sequence[str],
    texts: pa.ChunkedArray,
) -> list[Flip]:
    """Texts that most seeds of the one have right and most of the other wrong, both ways, the
    clearest first.

    Arrays as for `gains`.
    """
    seeds = len(chosen)
    before = (base == truth).all(2).sum(0)
    after = (chosen == truth).all(2).sum(0)
    turned = (2 * np.minimum(before, after) < seeds) & (2 * np.maximum(before, after) > seeds)
    change = np.where(turned, after - before, 0)
    order = np.argsort(-np.abs(change), kind="stable")
    ways = [[i for i in order.tolist() if sign * change[i] > 0][:MOST_FLIPS] for sign in (1, -1)]
    return [
        Flip(
            **place,
            text=texts[i].as_py(),
            true=_named(truth[i], names),
            labels_before=_named(2 * base[:, i].sum(0) > seeds, names),
            labels_after=_named(2 * chosen[:, i].sum(0) > seeds, names),
            before=int(before[i]),
            after=int(after[i]),
            seeds=seeds,
        )
        for i in (*ways[0], *ways[1])
    ]


def _named(inside: Bools, names: Sequence[str]) -> list[str]:
    return [names[i] for i in np.flatnonzero(inside).tolist()]


def choices(rows: Rows, space: LabelSpace) -> Bools:
    """What each run chose, bool (seeds, n, L)."""
    return np.stack([unpacked_bits(row["chosen"], row["texts"], len(space)) for row in rows])


def spread(values: Sequence[float] | Floats) -> float:
    """Standard deviation over seeds; 0 of a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
