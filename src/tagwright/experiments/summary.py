"""A comparison in numbers: means and spreads, paired intervals against the baseline, wins, and a
sentence.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from tagwright import metrics
from tagwright.experiments.contrast import spread
from tagwright.experiments.ledger import Row
from tagwright.experiments.standings import values_of_texts
from tagwright.metrics import statistics
from tagwright.metrics.statistics import Interval
from tagwright.reports.compare_facts import Difference, Summary, Sweep, Wins

Place: TypeAlias = tuple[str, str]  # objective, encoder
Finished: TypeAlias = Mapping[Place, Mapping[int, Row]]  # by seed, runs that ended well


def measured_by_all(found: Finished) -> list[str]:
    """The metrics that every run has, in the order of the first."""
    rows = [row["scored"] for runs in found.values() for row in runs.values()]
    return [name for name in (rows[0] if rows else ()) if all(name in row for row in rows)]


def summary(place: Place, runs: Mapping[int, Row], names: Sequence[str], failed: int) -> Summary:
    """One objective on one encoder over its seeds."""
    objective, encoder = place
    rows = list(runs.values())
    memory = [peak for row in rows if (peak := row.get("memory")) is not None]
    return Summary(
        objective=objective,
        encoder=encoder,
        metrics=_means([row["scored"] for row in rows], names),
        untuned=_means([row["untuned"] for row in rows if "untuned" in row], names),
        seconds=float(np.mean([row["seconds"] for row in rows])) if rows else float("nan"),
        memory=float(max(memory)) if memory else None,
        finished=len(rows),
        failed=failed,
    )


def _means(
    rows: Sequence[Mapping[str, float]], names: Sequence[str]
) -> dict[str, tuple[float, float]]:
    values = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: (float(np.mean(found)), spread(found)) for name, found in values.items() if found}


def differences(
    found: Finished, baseline: str, names: Sequence[str], primary: str
) -> list[Difference]:
    """Every objective against the baseline of its encoder, in every metric, over the seeds that
    both have.

    Holm's correction is over all objectives and encoders, of the primary metric.
    """
    result: list[Difference] = []
    for (objective, encoder), runs in found.items():
        base = found.get((baseline, encoder), {})
        if objective == baseline or not runs.keys() & base.keys():
            continue
        for name in names:
            interval, over_texts = _interval(runs, base, name)
            facts = {key: getattr(interval, key) for key in ("mean", "low", "high", "p_value")}
            place = {
                "objective": objective,
                "encoder": encoder,
                "metric": name,
                "adjusted": float("nan"),
            }
            result.append({**place, **facts, "over_texts": over_texts})  # type: ignore[typeddict-item]
    judged = [one for one in result if one["metric"] == primary]
    for one, adjusted in zip(judged, statistics.holm(np.array([one["p_value"] for one in judged]))):
        one["adjusted"] = float(adjusted)
    return result


def _interval(runs: Mapping[int, Row], base: Mapping[int, Row], name: str) -> tuple[Interval, bool]:
    """Over other seeds and texts where it is known what each text adds to the metric, else over
    other seeds.
    """
    seeds = sorted(runs.keys() & base.keys())
    values = [[values_of_texts([rows[seed]], name) for seed in seeds] for rows in (runs, base)]
    if len(seeds) > 1 and all(one is not None for side in values for one in side):
        return statistics.crossed_interval(*(np.stack(side) for side in values)), True  # type: ignore[arg-type]
    pairs = [np.array([rows[seed]["scored"][name] for seed in seeds]) for rows in (runs, base)]
    return statistics.paired_interval(*pairs), False


def wins(
    found: Finished, objectives: Sequence[str], names: Sequence[str]
) -> tuple[list[Wins], int]:
    """How often each objective was best, and of how many encoders and seeds in which all of them
    finished.
    """
    encoders = dict.fromkeys(encoder for _, encoder in found)
    seeds = sorted({seed for runs in found.values() for seed in runs})
    games = [
        [found[objective, encoder][seed]["scored"] for objective in objectives]
        for encoder, seed in product(encoders, seeds)
        if all(seed in found.get((objective, encoder), {}) for objective in objectives)
    ]
    counted = {name: np.zeros(len(objectives), int) for name in names}
    for name, rows in product(names, games):
        values = np.array([row[name] for row in rows])
        counted[name] += values == (values.max() if metrics.metric(name)[1] else values.min())
    result = [
        Wins(objective=objective, metrics={name: int(counted[name][i]) for name in names})
        for i, objective in enumerate(objectives)
    ]
    return result, len(games)


def sweeps(
    found: Finished,
    swept: Mapping[str, tuple[str, Mapping[str, float]]],
    encoders: Sequence[str],
    primary: str,
) -> list[Sweep]:
    """Curves of the primary metric over a setting; `swept` has family -> (setting, objective -> its
    value).
    """
    result = []
    for (family, (setting, values)), encoder in product(swept.items(), encoders):
        scores = {
            value: [row["scored"][primary] for row in found.get((name, encoder), {}).values()]
            for name, value in values.items()
        }
        kept = sorted(value for value, own in scores.items() if own)
        if len(kept) > 1:
            means = np.array([np.mean(scores[value]) for value in kept])
            facts = {
                "values": np.array(kept),
                "means": means,
                "spreads": np.array([spread(scores[v]) for v in kept]),
            }
            result.append(Sweep(objective=family, encoder=encoder, setting=setting, **facts))  # type: ignore[typeddict-item]
    return result


def best_beside(found: Finished, baseline: str, encoder: str, primary: str) -> str | None:
    """The objective with the best mean on an encoder, but for the baseline."""
    sign = 1 if metrics.metric(primary)[1] else -1
    means = {
        objective: sign * float(np.mean([row["scored"][primary] for row in runs.values()]))
        for (objective, where), runs in found.items()
        if where == encoder and objective != baseline and runs
    }
    return max(means, key=means.__getitem__) if means else None


def verdict(found: Sequence[Difference], baseline: str, primary: str, *, encoders: int = 1) -> str:
    """One sentence on the primary metric's differences; "no difference" is a fair answer."""
    if not found:
        return f"No objective can be compared with {baseline}: its runs or theirs failed."
    if any(np.isinf(one["high"]) for one in found):
        return f"One seed shows no spread, so nothing can be said about {primary}; run more seeds."
    sign = 1 if metrics.metric(primary)[1] else -1
    real = [one for one in found if one["adjusted"] < 0.05]
    better = [one for one in real if sign * one["mean"] > 0]
    if not real:
        return (
            f"No difference in {primary} from {baseline} that these data can show (corrected p ≥"
            " 0.05 for all)."
        )
    # of each encoder, the largest gain; where none gains, the largest loss
    best: dict[str, Difference] = {}
    for one in sorted(better or real, key=lambda one: -abs(one["mean"])):
        best.setdefault(one["encoder"], one)
    told = "; ".join(_told(one, sign, with_encoder=encoders > 1) for one in best.values())
    none = "" if better else "; none is better"
    return f"In {primary}, against {baseline}: {told}{none}."


def _told(one: Difference, sign: int, *, with_encoder: bool) -> str:
    place = f"{one['objective']} with {one['encoder']}" if with_encoder else one["objective"]
    word = "better" if sign * one["mean"] > 0 else "worse"
    of = "seeds and texts" if one["over_texts"] else "seeds"
    bounds = f"95% interval {one['low']:+.4f} to {one['high']:+.4f} over other {of}"
    return (
        f"{place} is {word} by {abs(one['mean']):.4f} ({bounds}, corrected p ="
        f" {one['adjusted']:.2g})"
    )
