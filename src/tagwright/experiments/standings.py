"""From runs to a table: mean and spread of every variant, and what sets it apart from the
baseline.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tagwright import metrics
from tagwright.arrays import Floats
from tagwright.experiments.ledger import Row, unpacked, unpacked_values
from tagwright.metrics import statistics
from tagwright.metrics.statistics import Interval
from tagwright.reports.reproduce import Line

PER_TEXT = ("accuracy", "subset_accuracy")  # the mean of whether a text is right
Runs: TypeAlias = Mapping[tuple[int, str], Row]  # by seed and part


@dataclass(frozen=True, kw_only=True)
class _Scores:
    """Of one variant: a score a seed, the mean over the cut's parts; what a text adds, a seed and
    text, where known.
    """

    of_seed: dict[int, float]
    of_texts: dict[int, Floats]
    beside: dict[str, list[float]]
    untuned: list[float]  # the same metric with no threshold fitted, a score a seed, where known
    amounts: dict[str, tuple[float, float]]
    seconds: float


def standings(
    runs: Mapping[str, Runs], metric: str, *, baseline: str, parts: int, also: Sequence[str] = ()
) -> list[Line]:
    """A line a variant, the baseline first; `parts` are the training sets that a seed needs to
    count.

    `also` are metrics to show beside: nothing is concluded from them.
    """
    found = {name: _scores(rows, metric, parts, also) for name, rows in runs.items()}
    base = found[baseline]
    intervals = {
        name: _intervals(scores, base) for name, scores in found.items() if name != baseline
    }
    judged = {
        name: whole.p_value
        for name, (_, whole) in intervals.items()
        if whole is not None and whole.seeds_counted
    }
    adjusted = dict(zip(judged, statistics.holm(np.array([*judged.values()])).tolist()))
    lines = []
    for name, scores in found.items():
        seeds, whole = intervals.get(name, (None, None))
        failed = [row["failed"] for row in runs[name].values() if "failed" in row]
        lines.append(
            Line(
                variant=name,
                scores=[scores.of_seed[seed] for seed in sorted(scores.of_seed)],
                over_seeds=None if seeds is None else (seeds.mean, seeds.low, seeds.high),
                over_texts=None if whole is None else (whole.mean, whole.low, whole.high),
                p_value=adjusted.get(name),
                verdict=_verdict(name, baseline, whole, adjusted, metric),
                seconds=scores.seconds,
                beside=scores.beside,
                untuned=scores.untuned,
                amounts=scores.amounts,
                failed=failed,
            )
        )
    return lines


def _scores(runs: Runs, metric: str, parts: int, also: Sequence[str]) -> _Scores:
    done = {place: row for place, row in runs.items() if "failed" not in row}
    by_seed: dict[int, list[Row]] = {}
    for (seed, _), row in sorted(done.items()):
        by_seed.setdefault(seed, []).append(row)
    whole = {seed: rows for seed, rows in by_seed.items() if len(rows) == parts}

    def means(name: str) -> dict[int, float]:
        return {
            seed: float(np.mean([row["scored"].get(name, np.nan) for row in rows]))
            for seed, rows in whole.items()
        }

    return _Scores(
        of_seed=means(metric),
        beside={name: list(means(name).values()) for name in also},
        untuned=[
            float(np.mean([row["untuned"][metric] for row in rows]))
            for rows in whole.values()
            if all(metric in row.get("untuned", ()) for row in rows)
        ],
        amounts=_amounts(
            [row["amounts"] for rows in whole.values() for row in rows if "amounts" in row]
        ),
        of_texts={
            seed: found
            for seed, rows in whole.items()
            if (found := values_of_texts(rows, metric)) is not None
        },
        seconds=float(np.mean([row["seconds"] for row in done.values()])) if done else float("nan"),
    )


def values_of_texts(rows: Sequence[Row], metric: str) -> Floats | None:
    """What each text adds to the metric, (n,), the mean over the parts' models; None where a row
    does not tell.
    """
    right = [(bits, row["texts"]) for row in rows if (bits := row.get("right")) is not None]
    if metric in PER_TEXT and len(right) == len(rows):
        return np.mean([unpacked(*each) for each in right], axis=0)
    if all(metric in row.get("of_texts", ()) for row in rows):
        return np.mean([unpacked_values(row["of_texts"][metric]) for row in rows], axis=0)
    return None


def _amounts(found: Sequence[Mapping[str, Sequence[int]]]) -> dict[str, tuple[float, float]]:
    """Type -> tokens predicted and true, means over the runs."""
    return {
        name: (
            float(np.mean([one[name][0] for one in found])),
            float(np.mean([one[name][1] for one in found])),
        )
        for name in (found[0] if found else ())
    }


def _intervals(scores: _Scores, base: _Scores) -> tuple[Interval | None, Interval | None]:
    """Over other seeds, and over other seeds and texts too where every text's answer is known; of
    common seeds.
    """
    seeds = sorted(scores.of_seed.keys() & base.of_seed.keys())
    if not seeds:
        return None, None
    pairs = [np.array([one.of_seed[seed] for seed in seeds]) for one in (scores, base)]
    over_seeds = statistics.paired_interval(*pairs)
    if not all(seed in one.of_texts for seed in seeds for one in (scores, base)):
        return over_seeds, over_seeds
    values = [np.stack([one.of_texts[seed] for seed in seeds]) for one in (scores, base)]
    return over_seeds, statistics.crossed_interval(*values)


def _verdict(
    name: str, baseline: str, found: Interval | None, adjusted: Mapping[str, float], metric: str
) -> str:
    if name == baseline:
        return "baseline"
    if found is None:
        return "no run to compare"
    if name not in adjusted:
        return "one seed shows nothing"
    if adjusted[name] >= 0.05:
        return "no difference shown"
    return "better" if (found.mean > 0) == metrics.metric(metric)[1] else "worse"
