"""Objectives × encoders × seeds on one split: every run kept as it ends, then what sets them apart,
and a sentence.
"""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from pathlib import Path

from tagwright.analysis.run_facts import can_report
from tagwright.data import Data
from tagwright.data.dataset import Task
from tagwright.data.split import split as split_data
from tagwright.errors import ModelError, SettingsError
from tagwright.experiments.attempts import Attempts
from tagwright.experiments.comparison_facts import compared
from tagwright.experiments.differing_settings import differing
from tagwright.experiments.ledger import Ledger
from tagwright.experiments.plan import Planned, Source, plan, source_of
from tagwright.experiments.prepared_cache import Bench, Ready, device_name
from tagwright.experiments.progress import Lines, Watch
from tagwright.experiments.recipe import Recipe, Variant
from tagwright.experiments.runs import Making, make, require_jobs
from tagwright.experiments.sweeps import swept_variants
from tagwright.inference.model_folder import versions
from tagwright.inference.tagged_tokens import tag_space
from tagwright.metrics.of_tokens import require_measured, usual_of_tags
from tagwright.reports import CompareFacts, compare_report
from tagwright.settings.merge import merge, side_by_side
from tagwright.settings.schema import Settings, check_settings
from tagwright.storage.files import json_ready, write_json, write_text
from tagwright.storage.folder import require_ours
from tagwright.storage.lock import LOCK, holds_files, locked, require_free
from tagwright.training.check import check
from tagwright.training.dev import Watched
from tagwright.training.read_data import read_for

LEDGER, SUMMARY, REPORT, PAGES = "runs.jsonl", "results.json", "report.html", "runs"
MARKS = (LEDGER, SUMMARY, LOCK)  # what tells a folder for a comparison
# of the report alone
HEAVY = (
    "gains",
    "curves",
    "reliability",
    "exchanges",
    "flips",
    "bands",
    "settings",
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every run and what they say together; differences are objective minus baseline, paired by
    seed.
    """

    facts: CompareFacts
    failed: int
    report: Path | None

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        facts = {key: value for key, value in asdict(self.facts).items() if key not in HEAVY}
        return {
            **facts,
            "failed": self.failed,
            "report": None if self.report is None else str(self.report),
        }


def compare_folder(
    source: str,
    given: Mapping[str, object],
    *,
    objectives: Sequence[str],
    seeds: int,
    out: Path,
    chosen: Mapping[str, object] | None = None,
    encoders: Sequence[str] = (),
    sweep: Sequence[str] = (),
    metric: str | None = None,
    split: str | None = None,
    jobs: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    say: Callable[[str], None] = lambda text: None,
    watch: Callable[[str], Watch] | None = None,
) -> Comparison:
    """Train every objective on every encoder with every seed on the same split, score, and write
    what came out.

    `given` are the settings of a file. `chosen` are those of the same level as the objectives, and
    win over the file's. `sweep` has settings to go through, as "objective:section.key=a,b". `jobs`
    runs are made at once, None: as many as the machine allows. `watch` makes of the metric who
    looks on.
    """
    started = time.monotonic()
    require_jobs(jobs)
    variants, swept = swept_variants(_distinct(objectives, "objectives"), sweep)
    variants = [replace(one, settings=_beside(chosen or {}, one, encoders)) for one in variants]
    given = _below(given, variants, encoders, say)
    for variant in variants:
        check_settings(merge(given, variant.settings))
    require_free(out)
    _refuse(out, may_stand=resume or overwrite)
    data, first = read_for(source, merge(given, variants[0].settings))
    recipe = replace(
        _recipe(source, given, variants, encoders or [first.encoder.name]),
        title=f"{', '.join(objectives)} on {source}",
        metric=require_measured(metric or _usual(data), tagged=_first_task(data) == "tokens"),
        seeds=seeds,
    )
    ground = _ground(data, first, split)
    runs = _planned(recipe, ground)
    _require_learnt(runs, {variant.name: variant.family for variant in variants})
    require_apart(runs)
    apart = differing(
        {run.variant: run.settings for run in runs if run.encoder == recipe.encoders[0]}
    )
    looks_on = watch(recipe.metric) if watch else Lines(recipe.metric, say)
    bench = Bench({source: ground}, looks_on.say)
    ready = _checked(runs, bench, looks_on.say)
    making = Making(
        sources={source: ground},
        teachers=out / "teachers",
        detail=True,
        pages=out / PAGES if can_report() else None,
    )
    with locked(out):
        _refuse(out, may_stand=resume or overwrite)  # another comparison may have ended since
        if overwrite and not resume:
            _clear(out)
        ledger = Ledger(out / LEDGER, looks_on.say)
        for _ in make(
            runs,
            making,
            ledger,
            jobs=jobs,
            watch=looks_on,
            made={"versions": versions()},
            bench=bench,
        ):
            pass
        shutil.rmtree(out / "teachers", ignore_errors=True)  # they have served
        facts = replace(
            compared(recipe, runs, ledger, ready, swept, looks_on.say),
            differing=apart,
            settings=first.as_dict(),
            device=device_name(first),
            seconds=time.monotonic() - started,
        )
        failed = sum("failed" in ledger.rows[run.key] for run in runs)
        return Comparison(
            facts=facts, failed=failed, report=_write(facts, failed, out, looks_on.say)
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


def _recipe(
    source: str, given: Mapping[str, object], variants: Sequence[Variant], encoders: Sequence[str]
) -> Recipe:
    """The comparison as a recipe."""
    return Recipe(
        name="comparison",
        folder=Path(),
        title="",
        paper="",
        note="",
        metric="",
        seeds=1,
        data=(source,),
        encoders=tuple(_distinct(encoders, "encoders")),
        baseline=variants[0].name,
        variants=tuple(variants),
        settings=given,
    )


def _distinct(names: Sequence[str], what: str) -> Sequence[str]:
    least = 2 if what == "objectives" else 1
    if len(set(names)) < max(least, len(names)):
        number = "two or more different" if least == 2 else "different"
        raise SettingsError(f"compare takes {number} {what}, got {', '.join(names) or 'none'}")
    return names


def _first_task(data: Data) -> Task:
    """The task of the head that is compared."""
    return next(iter(data.heads.values())).task if data.heads else data.task


def _usual(data: Data) -> str:
    """The metric to compare by where none is named; of tokens the one that the best model is chosen
    by.
    """
    data = data.alone(next(iter(data.heads), ""))
    if data.task == "tokens":
        return usual_of_tags(tag_space(data.first).names)
    return "accuracy" if data.task == "one" else "macro_f1"


def _ground(data: Data, settings: Settings, split: str | None) -> Source:
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


def _planned(recipe: Recipe, ground: Source) -> list[Planned]:
    """Every run; what cannot be is refused before the first."""
    runs = plan(recipe, {recipe.data[0]: ground}, only=(), seeds=recipe.seeds, device=None, more=())
    # a fault begins with the name of its error, and may be that of several runs
    faults = dict.fromkeys(run.fault.partition(": ")[2] for run in runs if run.settings is None)
    if faults:
        raise SettingsError("\n".join(faults))
    return runs


def _checked(runs: Sequence[Planned], bench: Bench, say: Callable[[str], None]) -> Ready:
    """The data of the first encoder, ready; what its objectives cannot be trained with is refused,
    the rest is said.
    """
    here = [run.settings for run in runs if (run.encoder, run.seed) == (runs[0].encoder, 0)]
    chosen = [settings for settings in here if settings is not None]
    ready = bench.of(runs[0], chosen[0])
    known = dict.fromkeys(
        sentence for settings in chosen for sentence in check(ready.prepared, settings)
    )
    first, *others = ready.prepared.heads
    compares = (
        f"every run learns {', '.join([first, *others])}; compared are the figures of {first}",
    )
    for sentence in (
        *known,
        *(compares if others else ()),
        f"score: {Watched(ready.prepared, chosen[0])} on dev",
    ):
        say(sentence)
    return ready


def _refuse(out: Path, *, may_stand: bool) -> None:
    """Refuse a folder of others, and a comparison unless it `may_stand`."""
    require_ours(out, MARKS, "comparison")
    if holds_files(out) and not may_stand:
        raise ModelError(f"{out} exists; go on with --resume, or start over with --overwrite")


def _clear(out: Path) -> None:
    """Remove what an earlier comparison wrote, and nothing else."""
    for name in (LEDGER, SUMMARY, REPORT):
        (out / name).unlink(missing_ok=True)
    for name in (PAGES, "teachers"):
        shutil.rmtree(out / name, ignore_errors=True)


def _write(facts: CompareFacts, failed: int, out: Path, say: Callable[[str], None]) -> Path | None:
    """Write the summary, then the report; if the report fails, the summary stands."""
    content = Comparison(facts=facts, failed=failed, report=None).as_dict()
    write_json(out / SUMMARY, json_ready(content))
    if not can_report():
        return None
    (out / REPORT).unlink(missing_ok=True)  # of an earlier comparison in this folder
    page = Attempts(say).of("the report", lambda: compare_report(facts), None)
    if page is None:
        return None
    write_text(out / REPORT, page)
    return out / REPORT
