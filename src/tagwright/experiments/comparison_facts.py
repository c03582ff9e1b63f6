"""All that a comparison's report tells, from its plan, its ledger and the data that it was scored
on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tagwright import metrics
from tagwright.arrays import Bools
from tagwright.experiments import contrast
from tagwright.experiments.attempts import Attempts
from tagwright.experiments.contrast import choices
from tagwright.experiments.ledger import Ledger, Row
from tagwright.experiments.plan import Planned
from tagwright.experiments.prepared_cache import Ready
from tagwright.experiments.recipe import Recipe
from tagwright.experiments.summary import (
    Finished,
    Place,
    best_beside,
    differences,
    measured_by_all,
    summary,
    sweeps,
    verdict,
    wins,
)
from tagwright.experiments.sweeps import SweptSetting
from tagwright.inference.model_folder import versions
from tagwright.reports.compare_facts import (
    BandScore,
    CompareFacts,
    Curve,
    Exchange,
    Flip,
    Gains,
    Reliability,
    RunRow,
)


def compared(
    recipe: Recipe,
    runs: Sequence[Planned],
    ledger: Ledger,
    ready: Ready,
    swept: Mapping[str, SweptSetting],
    say: Callable[[str], None] = lambda text: None,
) -> CompareFacts:
    """What the runs say together. What cannot be computed is said and left out: the runs took long,
    and stand.
    """
    objectives, attempts = [variant.name for variant in recipe.variants], Attempts(say)
    primary, baseline, encoders = recipe.metric, recipe.baseline, recipe.encoders
    found: dict[Place, dict[int, Row]] = {(run.variant, run.encoder): {} for run in runs}
    for run in runs:
        if ledger.finished(run.key):
            found[run.variant, run.encoder][run.seed] = ledger.rows[run.key]
    rows = [ledger.rows[run.key] for run in runs]
    finished = [row for row in rows if "failed" not in row]
    facts = CompareFacts(
        title=recipe.title
        if len(ready.prepared.heads) == 1
        else f"{recipe.title}, {ready.prepared.first}",
        baseline=baseline,
        metric=primary,
        objectives=objectives,
        encoders=encoders,
        rows=[_run(row) for row in rows],
        summary=[],
        split=ready.on,
        texts=finished[0]["texts"] if finished else 0,
        lower_is_better=[
            name for name, (_, higher) in metrics.descriptions().items() if not higher
        ],
        watched=finished[0]["watched"] if finished else "score",
        versions=versions(),
    )
    steps: dict[str, Callable[[CompareFacts], CompareFacts]] = {
        "means and differences": lambda facts: _with_numbers(facts, found, recipe),
        "curves of swept settings": lambda facts: replace(
            facts, sweeps=sweeps(found, swept, encoders, primary)
        ),
        "details of training and calibration": lambda facts: _with_details(facts, found, ready),
        "details of labels and texts": lambda facts: _with_labels(facts, found, ready, recipe),
    }
    for what, compute in steps.items():
        facts = attempts.of(what, partial(compute, facts), facts)
    return replace(facts, warnings=(*ready.prepared.warnings, *attempts.failed))


def _with_numbers(facts: CompareFacts, found: Finished, recipe: Recipe) -> CompareFacts:
    """Means, differences from the baseline, wins, and the sentence that sums them up."""
    primary, baseline, encoders = facts.metric, facts.baseline, facts.encoders
    names = measured_by_all(found)
    apart = differences(found, baseline, names, primary)
    won, games = wins(found, facts.objectives, names)
    places = [(objective, encoder) for encoder in encoders for objective in facts.objectives]
    return replace(
        facts,
        summary=[
            summary(place, found[place], names, recipe.seeds - len(found[place]))
            for place in places
        ],
        differences=apart,
        verdict=verdict(
            [one for one in apart if one["metric"] == primary],
            baseline,
            primary,
            encoders=len(encoders),
        ),
        wins=won if games else [],
        games=games,
    )


def _run(row: Row) -> RunRow:
    return RunRow(
        objective=row["variant"],
        encoder=row["encoder"],
        seed=row["seed"],
        metrics=row.get("scored", {}),
        untuned=row.get("untuned", {}),
        seconds=row.get("seconds", float("nan")),
        memory=row.get("memory"),
        failed=row.get("failed", ""),
        page=row.get("page", ""),
    )


def _shown(found: Finished, recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Encoder -> the objective that details are about: the best of those that share a seed with the
    baseline.
    """
    for encoder in recipe.encoders:
        base = found.get((recipe.baseline, encoder), {})
        paired = {place: runs for place, runs in found.items() if runs.keys() & base.keys()}
        best = best_beside(paired, recipe.baseline, encoder, recipe.metric)
        if best is not None:
            yield encoder, best


def _with_details(facts: CompareFacts, found: Finished, ready: Ready) -> CompareFacts:
    """The course of every training, how well probabilities hold, and scores by frequency of
    labels.
    """
    bands: list[BandScore] = []
    curves: list[Curve] = []
    reliability: list[Reliability] = []
    for (objective, encoder), rows in _by_seed(found).items():
        place = contrast.Place(objective=objective, encoder=encoder)
        curves += contrast.curves(place, rows)
        reliability += contrast.reliability(place, rows)
        if not ready.prepared.tagged:
            bands += contrast.band_scores(place, rows, ready.prepared.space.counts)
    return replace(facts, bands=bands, curves=curves, reliability=reliability)


def _with_labels(
    facts: CompareFacts, found: Finished, ready: Ready, recipe: Recipe
) -> CompareFacts:
    """What is known of labels and texts; nothing of labels where tokens are tagged or labels are
    very many.
    """
    space, shown = ready.prepared.space, dict(_shown(found, recipe))
    gains: list[Gains] = []
    exchanges: list[Exchange] = []
    flips: list[Flip] = []
    every = _by_seed(found)
    truth = _truth(ready, every)
    if truth is None:
        return replace(facts, gains=gains, exchanges=exchanges, flips=flips, shown=shown)
    for encoder in shown:
        baseline = found[recipe.baseline, encoder]
        kept = {seed: choices([row], space)[0] for seed, row in baseline.items()}
        for objective in (one for one, where in every if where == encoder):
            place, runs = (
                contrast.Place(objective=objective, encoder=encoder),
                found[objective, encoder],
            )
            seeds = sorted(runs.keys() & kept.keys())
            if not seeds:
                continue
            base, chosen = (
                np.stack([kept[seed] for seed in seeds]),
                choices([runs[seed] for seed in seeds], space),
            )
            gains.append(contrast.gains(place, truth, chosen, base))
            if objective == shown[encoder]:
                exchanges += contrast.exchanges(place, truth, chosen, base, space.names)
                flips += contrast.flips(
                    place, truth, chosen, base, space.names, ready.table["text"]
                )
    return replace(
        facts,
        gains=gains,
        exchanges=exchanges,
        flips=flips,
        shown=shown,
        label_names=space.names,
        label_counts=np.array(space.counts),
    )


def _by_seed(found: Finished) -> dict[Place, list[Row]]:
    """The finished runs of every objective on every encoder, by seed; none of those that have
    none.
    """
    return {place: [runs[seed] for seed in sorted(runs)] for place, runs in found.items() if runs}


def _truth(ready: Ready, every: Mapping[Place, Sequence[Row]]) -> Bools | None:
    """What is true (n, L), bool; None where tokens are tagged, or a run kept no choices."""
    if isinstance(ready.truth, np.ndarray):  # of tokens
        return None
    if any("chosen" not in row for rows in every.values() for row in rows):
        return None
    return np.asarray((ready.truth > 0.5).toarray(), bool)
