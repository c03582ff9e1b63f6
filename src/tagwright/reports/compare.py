"""The report of a comparison: several objectives, one or more encoders, several seeds, one
split.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tagwright.reports import compare_tables, contrast
from tagwright.reports.compare_facts import CompareFacts
from tagwright.reports.objectives import keys
from tagwright.reports.page import duration, metric_name, plural, render
from tagwright.reports.plots import PALETTE
from tagwright.storage import toml

MOST_NAMED = 8  # objectives that an error names


class Failure(NamedTuple):
    """An error, and the runs that ended with it."""

    error: str
    runs: str


def compare_report(facts: CompareFacts) -> str:
    """One self-contained HTML page. Where texts flipped it quotes them: keep it with the runs."""
    return render(
        "compare.html.j2",
        facts=facts,
        lead=_lead(facts),
        failures=_failures(facts),
        failed=sum(bool(run["failed"]) for run in facts.rows),
        spread=len({run["seed"] for run in facts.rows}) > 1,
        games=_games(facts),
        undrawn=_undrawn(facts),
        standing=contrast.standing(facts),
        summary=compare_tables.summary_table(facts) if facts.summary else None,
        untuned=compare_tables.untuned_metrics(facts),
        wins=compare_tables.wins_table(facts) if facts.wins and facts.games else None,
        frequency=contrast.by_frequency(facts),
        labels=contrast.by_label(facts),
        sweeps=contrast.by_setting(facts),
        training=contrast.while_training(facts),
        calibration=contrast.of_probabilities(facts),
        errors=compare_tables.error_table(facts) if facts.reliability else None,
        pairs=contrast.of_pairs(facts),
        flips=contrast.of_texts(facts),
        differences=compare_tables.difference_table(facts) if facts.differences else None,
        runs=compare_tables.run_table(facts) if facts.rows else None,
        differing=differing(facts),
        settings=toml.dumps(facts.settings) if facts.settings else None,
        made=_made(facts),
    )


def differing(facts: CompareFacts) -> list[str]:
    """A sentence for each setting that is not the same for all objectives."""
    return [
        f"{name}: {', '.join(f'{value} ({objective})' for objective, value in values.items())}"
        for name, values in facts.differing.items()
    ]


def _lead(facts: CompareFacts) -> str:
    seeds = len({run["seed"] for run in facts.rows})
    encoders = f" on {plural(len(facts.encoders), 'encoder')}" if len(facts.encoders) > 1 else ""
    if len(facts.encoders) == 1 and facts.encoders[0]:
        encoders = f" on the encoder {facts.encoders[0]}"
    where = f"{plural(facts.texts, 'text')} of {facts.split}" if facts.texts else facts.split
    return (
        f"{plural(len(facts.objectives), 'objective')}{encoders}, {plural(seeds, 'seed')} each; "
        f"compared by {metric_name(facts.metric)} on {where} against {facts.baseline}."
    )


def _failures(facts: CompareFacts) -> list[Failure]:
    """Every error once."""
    found: dict[str, dict[str, list[int]]] = {}
    for run in facts.rows:
        if run["failed"]:
            name = (
                f"{run['objective']} on {run['encoder']}"
                if len(facts.encoders) > 1
                else run["objective"]
            )
            found.setdefault(run["failed"], {}).setdefault(name, []).append(run["seed"])
    return [Failure(error, _listed(runs)) for error, runs in found.items()]


def _listed(runs: Mapping[str, Sequence[int]]) -> str:
    said = [
        f"{name}, seed{'s' * (len(own) > 1)} {', '.join(map(str, own))}"
        for name, own in runs.items()
    ]
    more = len(said) - MOST_NAMED
    return "; ".join(said[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _games(facts: CompareFacts) -> str:
    if len(facts.encoders) < 2:
        return plural(facts.games, "seed")
    return f"{plural(facts.games, 'pair')} of an encoder and a seed"


def _undrawn(facts: CompareFacts) -> str:
    """Said where there are more objectives than colors."""
    drawn = [key.name for key in keys(facts) if key.name != facts.baseline]
    others = len(set(facts.objectives) - {facts.baseline})
    return (
        f"Drawn: the baseline and the {len(drawn)} best of {others} others."
        if len(drawn) == len(PALETTE) < others
        else ""
    )


def _made(facts: CompareFacts) -> dict[str, str]:
    """How long it took, and on what."""
    made = {} if facts.seconds is None else {"time, all runs": duration(facts.seconds)}
    return made | ({"device": facts.device} if facts.device else {})
