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
from tagwright.reports.reproduce import Bounds, Line

PER_TEXT = ("accuracy", "subset_accuracy")  # the mean of whether a text is right
Runs: TypeAlias = Mapping[tuple[int, str], Row]  # by seed and part


@dataclass(frozen=True, kw_only=True)
class _Scores:
    """Of one variant: the rows of every seed that has all parts of the cut, and its score, their
    mean.
    """

    rows: dict[int, list[Row]]
    of_seed: dict[int, float]
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
    apart = {
        name: intervals(scores.rows, base.rows, metric)
        for name, scores in found.items()
        if name != baseline
    }
    judged = {
        name: both[1].p_value
        for name, both in apart.items()
        if both is not None and both[1].seeds_counted
    }
    adjusted = dict(zip(judged, statistics.holm(np.array([*judged.values()])).tolist()))
    lines = []
    for name, scores in found.items():
        over_seeds, over_texts = apart.get(name) or (None, None)
        failed = [row["failed"] for row in runs[name].values() if "failed" in row]
        lines.append(
            Line(
                variant=name,
                scores=[scores.of_seed[seed] for seed in sorted(scores.of_seed)],
                over_seeds=_bounds(over_seeds),
                over_texts=_bounds(over_texts),
                p_value=adjusted.get(name),
                verdict=_verdict(name, baseline, over_texts, adjusted, metric),
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
        return {seed: _mean(rows, name) for seed, rows in whole.items()}

    return _Scores(
        rows=whole,
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
        seconds=float(np.mean([row["seconds"] for row in done.values()])) if done else float("nan"),
    )


def _amounts(found: Sequence[Mapping[str, Sequence[int]]]) -> dict[str, tuple[float, float]]:
    """Type -> tokens predicted and true, means over the runs."""
    return {
        name: (
            float(np.mean([one[name][0] for one in found])),
            float(np.mean([one[name][1] for one in found])),
        )
        for name in (found[0] if found else ())
    }


def intervals(
    runs: Mapping[int, Sequence[Row]], base: Mapping[int, Sequence[Row]], metric: str
) -> tuple[Interval, Interval] | None:
    """The difference in a metric over other seeds, and over other seeds and texts where it is known
    what each text adds, else over seeds again.

    Both sides have their rows by seed; the seeds that both have count. None where there are none.
    """
    seeds = sorted(runs.keys() & base.keys())
    if not seeds:
        return None
    sides = [[rows[seed] for seed in seeds] for rows in (runs, base)]
    means = [np.array([_mean(rows, metric) for rows in side]) for side in sides]
    over_seeds = statistics.paired_interval(*means)
    values = [[_values_of_texts(rows, metric) for rows in side] for side in sides]
    known = [[one for one in side if one is not None] for side in values]
    if any(len(side) < len(seeds) for side in known):
        return over_seeds, over_seeds
    return over_seeds, statistics.crossed_interval(*(np.stack(side) for side in known))


def _mean(rows: Sequence[Row], metric: str) -> float:
    """The mean over the parts' models; NaN where one has no such score."""
    return float(np.mean([row["scored"].get(metric, np.nan) for row in rows]))


def _values_of_texts(rows: Sequence[Row], metric: str) -> Floats | None:
    """What each text adds to the metric, (n,), the mean over the parts' models; None where a row
    does not tell.
    """
    right = [(bits, row["texts"]) for row in rows if (bits := row.get("right")) is not None]
    if metric in PER_TEXT and len(right) == len(rows):
        return np.mean([unpacked(*each) for each in right], axis=0)
    if all(metric in row.get("of_texts", ()) for row in rows):
        return np.mean([unpacked_values(row["of_texts"][metric]) for row in rows], axis=0)
    return None


def shown(mean: float, adjusted: float, metric: str) -> str:
    """What a difference says after Holm's correction: better, worse, or nothing."""
    if not adjusted < 0.05:
        return "no difference shown"
    return "better" if (mean > 0) == metrics.metric(metric)[1] else "worse"


def _bounds(found: Interval | None) -> Bounds | None:
    return None if found is None else (found.mean, found.low, found.high)


def _verdict(
    name: str, baseline: str, found: Interval | None, adjusted: Mapping[str, float], metric: str
) -> str:
    if name == baseline:
        return "baseline"
    if found is None:
        return "no run to compare"
    if name not in adjusted:
        return "one seed shows nothing"
    return shown(found.mean, adjusted[name], metric)
