"""A comparison in numbers: means and spreads, paired intervals against the baseline, wins, and a
sentence.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from tagwright.experiments.contrast import spread
from tagwright.experiments.ledger import Row
from tagwright.experiments.standings import intervals, shown
from tagwright.metrics import statistics
from tagwright.reports.compare_facts import Difference, Summary, Sweep, Wins
from tagwright.reports.wins import best

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
        if objective == baseline:
            continue
        own, other = ({seed: [row] for seed, row in rows.items()} for rows in (runs, base))
        for name in names:
            both = intervals(own, other, name)
            if both is None:
                continue
            over_seeds, over_texts = both
            texts = over_texts is not over_seeds and over_texts.seeds_counted
            interval = over_texts if texts else over_seeds
            result.append(
                Difference(
                    objective=objective,
                    encoder=encoder,
                    metric=name,
                    adjusted=float("nan"),
                    mean=interval.mean,
                    low=interval.low,
                    high=interval.high,
                    p_value=interval.p_value,
                    over_texts=texts,
                )
            )
    judged = [one for one in result if one["metric"] == primary]
    for one, adjusted in zip(judged, statistics.holm(np.array([one["p_value"] for one in judged]))):
        one["adjusted"] = float(adjusted)
    return result


def wins(
    found: Finished, objectives: Sequence[str], names: Sequence[str]
) -> tuple[list[Wins], int]:
    """How often each objective was best, and of how many encoders and seeds in which all of them
    finished.
    """
    encoders = dict.fromkeys(encoder for _, encoder in found)
    seeds = sorted({seed for runs in found.values() for seed in runs})
    games = [
        {objective: found[objective, encoder][seed]["scored"] for objective in objectives}
        for encoder, seed in product(encoders, seeds)
        if all(seed in found.get((objective, encoder), {}) for objective in objectives)
    ]
    won = Counter(
        (objective, name)
        for name, game in product(names, games)
        for objective in best({one: scored[name] for one, scored in game.items()}, name)
    )
    result = [
        Wins(objective=objective, metrics={name: won[objective, name] for name in names})
        for objective in objectives
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
    means = {
        objective: float(np.mean([row["scored"][primary] for row in runs.values()]))
        for (objective, where), runs in found.items()
        if where == encoder and objective != baseline and runs
    }
    return next(iter(best(means, primary)), None)


def verdict(found: Sequence[Difference], baseline: str, primary: str, *, encoders: int = 1) -> str:
    """One sentence on the primary metric's differences; "no difference" is a fair answer."""
    if not found:
        return f"No objective can be compared with {baseline}: its runs or theirs failed."
    if any(np.isinf(one["high"]) for one in found):
        return f"One seed shows no spread, so nothing can be said about {primary}; run more seeds."
    words = [shown(one["mean"], one["adjusted"], primary) for one in found]
    better, worse = (
        [one for one, said in zip(found, words) if said == word] for word in ("better", "worse")
    )
    if not better and not worse:
        return (
            f"No difference in {primary} from {baseline} that these data can show (corrected p ≥"
            " 0.05 for all)."
        )
    # of each encoder, the largest gain; where none gains, the largest loss
    first: dict[str, Difference] = {}
    for one in sorted(better or worse, key=lambda one: -abs(one["mean"])):
        first.setdefault(one["encoder"], one)
    word, none = ("better", "") if better else ("worse", "; none is better")
    told = "; ".join(_told(one, word, with_encoder=encoders > 1) for one in first.values())
    return f"In {primary}, against {baseline}: {told}{none}."


def _told(one: Difference, word: str, *, with_encoder: bool) -> str:
    place = f"{one['objective']} with {one['encoder']}" if with_encoder else one["objective"]
    of = "seeds and texts" if one["over_texts"] else "seeds"
    bounds = f"95% interval {one['low']:+.4f} to {one['high']:+.4f} over other {of}"
    return (
        f"{place} is {word} by {abs(one['mean']):.4f} ({bounds}, corrected p ="
        f" {one['adjusted']:.2g})"
    )
