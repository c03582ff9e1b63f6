"""What a comparison is made of: its runs, planned from objectives, encoders, seeds and settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

from tagwright.data import Data
from tagwright.data.split import split as split_data
from tagwright.errors import SettingsError
from tagwright.experiments.differing_settings import differing
from tagwright.experiments.plan import Planned, Source, plan, source_of
from tagwright.experiments.recipe import Recipe, Variant
from tagwright.experiments.sweeps import SweptSetting, swept_variants
from tagwright.inference.tagged_tokens import tag_space
from tagwright.metrics.of_tokens import require_measured, usual_of_tags
from tagwright.settings.merge import merge, side_by_side
from tagwright.settings.schema import Settings, check_settings
from tagwright.training.read_data import read_for


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What is compared: every run on the same data, and what sets the objectives apart."""

    recipe: Recipe
    source: Source
    runs: list[Planned]
    swept: dict[str, SweptSetting]
    differing: Mapping[str, Mapping[str, object]]
    settings: Settings  # of the first run


class Named(NamedTuple):
    """What the command names, before any data are read."""

    given: dict[str, object]
    variants: list[Variant]
    swept: dict[str, SweptSetting]


def named_variants(
    given: Mapping[str, object],
    objectives: Sequence[str],
    *,
    chosen: Mapping[str, object],
    encoders: Sequence[str],
    sweep: Sequence[str],
    say: Callable[[str], None],
) -> Named:
    """Settings that hold for all, and the variants; what no data could make right is refused."""
    variants, swept = swept_variants(_distinct(objectives, "objectives"), sweep)
    variants = [replace(one, settings=_beside(chosen, one, encoders)) for one in variants]
    below = _below(given, variants, encoders, say)
    for variant in variants:
        check_settings(merge(below, variant.settings))
    return Named(below, variants, swept)


def planned(
    source: str,
    named: Named,
    *,
    title: str,
    encoders: Sequence[str],
    seeds: int,
    metric: str | None,
    split: str | None,
) -> ComparisonPlan:
    """Read the data and plan every run; what cannot be compared is refused."""
    given, variants, swept = named
    data, first = read_for(source, merge(given, variants[0].settings))
    task = next(iter(data.heads.values())).task if data.heads else data.task
    recipe = Recipe(
        name="comparison",
        folder=Path(),
        title=title,
        paper="",
        note="",
        metric=require_measured(metric or _usual(data), tagged=task == "tokens"),
        seeds=seeds,
        data=(source,),
        encoders=tuple(_distinct(encoders or [first.encoder.name], "encoders")),
        baseline=variants[0].name,
        variants=tuple(variants),
        settings=given,
    )
    ground = _split_once(data, first, split)
    runs = plan(recipe, {source: ground}, only=(), seeds=seeds, device=None, more=())
    # a fault begins with the name of its error, and may be that of several runs
    faults = dict.fromkeys(run.fault.partition(": ")[2] for run in runs if run.settings is None)
    if faults:
        raise SettingsError("\n".join(faults))
    _require_learnt(runs, {variant.name: variant.family for variant in variants})
    require_apart(runs)
    apart = {run.variant: run.settings for run in runs if run.encoder == recipe.encoders[0]}
    return ComparisonPlan(
        recipe=recipe,
        source=ground,
        runs=runs,
        swept=swept,
        differing=differing(apart),
        settings=first,
    )


def _below(
    given: Mapping[str, object],
    variants: Sequence[Variant],
    encoders: Sequence[str],
    say: Callable[[str], None],
) -> dict[str, object]:
    """What a settings file says that holds for a comparison: none of it chooses between objectives.

    What it says beyond that is discarded for all of them alike, and said; so is what the encoders
    discard.
    """
    lost: list[str] = []
    below = merge(given, *({"objective": one.family} for one in variants), discarded=lost)
    for variant, encoder in product(variants, encoders or [""]):
        merge(below, {"encoder": encoder} if encoder else {}, variant.settings, discarded=lost)
    if lost:
        told = ", ".join(dict.fromkeys(lost))
        say(
            "not taken from the settings file, because objectives and encoders are chosen by the"
            f" command: {told}"
        )
    return {section: values for section, values in below.items() if section != "objective"}


def _beside(
    chosen: Mapping[str, object], variant: Variant, encoders: Sequence[str]
) -> dict[str, object]:
    """The settings of a variant: all that the command says of it, at one level."""
    encoder = chosen.get("encoder")
    twice = {
        "objective": "objective" in chosen,
        "encoder": encoders and isinstance(encoder, Mapping) and "name" in encoder,
    }
    for section in (section for section, named in twice.items() if named):
        raise SettingsError(
            f"--{section}s names the {section}s of a comparison; leave {section} out of --set"
        )
    return side_by_side(chosen, variant.settings)


def require_apart(runs: Sequence[Planned]) -> None:
    """Refuse runs that would be the same training under two names: their difference would say
    nothing.
    """
    first = [
        (run, replace(run.settings, objective=""))
        for run in runs
        if run.settings and run.seed == runs[0].seed
    ]
    for (run, settings), (other, others) in combinations(first, 2):
        if settings == others:
            raise SettingsError(
                f"{run.variant} on {run.encoder} and {other.variant} on {other.encoder} have the"
                " same settings, so there is nothing to compare; leave out the option that"
                " overrides what sets them apart"
            )


def _require_learnt(runs: Sequence[Planned], objectives: Mapping[str, str]) -> None:
    """Refuse objectives that the compared head, the first, does not learn by: its figures say
    nothing of them.
    """
    for run in runs:
        if run.settings is None or not run.settings.heads:
            continue
        head, wanted = next(iter(run.settings.heads)), objectives[run.variant]
        own = run.settings.of(head).objective
        if own != wanted:
            raise SettingsError(
                f"{wanted} is not compared, for the head whose figures are compared, {head}, learns"
                f" by {own}; leave out heads.{head}.objective, or put another head first"
            )


def _distinct(names: Sequence[str], what: str) -> Sequence[str]:
    least = 2 if what == "objectives" else 1
    if len(set(names)) < max(least, len(names)):
        number = "two or more different" if least == 2 else "different"
        raise SettingsError(f"compare takes {number} {what}, got {', '.join(names) or 'none'}")
    return names


def _usual(data: Data) -> str:
    """The metric to compare by where none is named; of tokens the one that the best model is chosen
    by.
    """
    data = data.alone(next(iter(data.heads), ""))
    if data.task == "tokens":
        return usual_of_tags(tag_space(data.first).names)
    return "accuracy" if data.task == "one" else "macro_f1"


def _split_once(data: Data, settings: Settings, split: str | None) -> Source:
    """The data as all runs take them: split once, and scored on one part."""
    choice, size = settings.split, data.size
    data = split_data(
        data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed
    )
    on = split or ("test" if "test" in data.tables else "dev")
    if on not in data.tables or on == "train":
        there = ", ".join(name for name in data.tables if name != "train")
        raise SettingsError(
            f"split must be one of {there}, to measure on what was not learnt; got {on!r}"
        )
    return source_of(data, size, on)
