"""Objectives × encoders × seeds on one split: every run kept as it ends, then what sets them apart,
and a sentence.
"""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tagwright.experiments.comparison_facts import compared
from tagwright.experiments.comparison_files import (
    LEDGER,
    Comparison,
    clear,
    pages_folder,
    require_free_place,
    write,
)
from tagwright.experiments.comparison_plan import named_variants, planned
from tagwright.experiments.ledger import Ledger, Made
from tagwright.experiments.plan import Planned
from tagwright.experiments.prepared_cache import Bench, Ready
from tagwright.experiments.progress import Lines, Watch
from tagwright.experiments.runs import Making, make, require_jobs
from tagwright.inference.model_folder import versions
from tagwright.models.device import device_name
from tagwright.storage.lock import locked, require_free
from tagwright.training.check import check, score_of


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
    named = named_variants(
        given, objectives, chosen=chosen or {}, encoders=encoders, sweep=sweep, say=say
    )
    require_free(out)
    require_free_place(out, may_stand=resume or overwrite)
    plan = planned(
        source,
        named,
        title=f"{', '.join(objectives)} on {source}",
        encoders=encoders,
        seeds=seeds,
        metric=metric,
        split=split,
    )
    recipe, runs, sources = plan.recipe, plan.runs, {source: plan.source}
    looks_on = watch(recipe.metric) if watch else Lines(recipe.metric, say)
    bench = Bench(sources, looks_on.say)
    ready = _checked(runs, bench, looks_on.say)
    making = Making(
        sources=sources, teachers=out / "teachers", detail=True, pages=pages_folder(out)
    )
    with locked(out):
        # another comparison may have ended since
        require_free_place(out, may_stand=resume or overwrite)
        if overwrite and not resume:
            clear(out)
        ledger = Ledger(out / LEDGER, looks_on.say)
        made: Made = {"versions": versions()}
        for _ in make(runs, making, ledger, jobs=jobs, watch=looks_on, made=made, bench=bench):
            pass
        shutil.rmtree(out / "teachers", ignore_errors=True)  # they have served
        facts = replace(
            compared(recipe, runs, ledger, ready, plan.swept, looks_on.say),
            differing=plan.differing,
            settings=plan.settings.as_dict(),
            device=device_name(plan.settings),
            seconds=time.monotonic() - started,
        )
        failed = sum("failed" in ledger.rows[run.key] for run in runs)
        return Comparison(
            facts=facts, failed=failed, report=write(facts, failed, out, looks_on.say)
        )


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
        *score_of(ready.prepared, chosen[0]),
    ):
        say(sentence)
    return ready
