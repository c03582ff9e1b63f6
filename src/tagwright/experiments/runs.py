"""Makes the runs of a plan that are not there yet, one after the other or several at once, each
kept as it ends.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch

from tagwright.errors import SettingsError, WriteError
from tagwright.experiments.attempts import Attempts
from tagwright.experiments.ledger import Ledger, Made, Row, RunResults
from tagwright.experiments.plan import Planned, Source
from tagwright.experiments.prepared_cache import Bench, said
from tagwright.experiments.progress import Under, Watch
from tagwright.experiments.scored_run import course_of, dev_metrics, dev_untuned, page_of, scored
from tagwright.experiments.worker_pool import Lost, Tell, Work, cores, shared
from tagwright.models.device import device_name, device_of
from tagwright.settings.schema import Settings
from tagwright.training.loop import Step
from tagwright.training.memory import Peak
from tagwright.training.needed_memory import require_memory
from tagwright.training.state import Run
from tagwright.training.train import fit

TELL_EVERY = 0.5  # seconds: oftener than that nobody looks
# of a run on a CPU: more threads gain little on models that are small enough for one
CORES_EACH = 2


@dataclass(frozen=True, kw_only=True)
class Making:
    """What every run of a plan is made with: who learns from teachers finds them in `teachers`.

    `detail` keeps every text's choices and the course of training; `pages` is where a report of
    each run goes.
    """

    sources: Mapping[str, Source]
    teachers: Path
    detail: bool = False
    pages: Path | None = None


def make(
    runs: Sequence[Planned],
    making: Making,
    ledger: Ledger,
    *,
    jobs: int | None,
    watch: Watch,
    made: Made,
    bench: Bench | None = None,
) -> Iterator[int]:
    """Make what the ledger does not have; the number of each run as it is in the ledger.

    `made` goes into every row. `bench` may have data ready, for runs that are made one by one.
    """
    ledger.begin()
    watch.begin(runs, [ledger.finished(run.key) for run in runs])
    left = [number for number, run in enumerate(runs) if ledger.finished(run.key) is None]
    count = min(jobs or jobs_for([runs[n].settings for n in left]), max(len(left), 1))
    tasks = [runs[n] for n in left]
    bench = bench or Bench(making.sources, watch.say)
    rows = (
        _one_by_one(tasks, left, making, watch, bench)
        if count == 1
        else _at_once(tasks, left, making, watch, count)
    )
    for place, row in rows:
        ledger.add({**row, **made})
        watch.end(left[place], row)
        yield left[place]


def jobs_for(settings: Sequence[Settings | None]) -> int:
    """How many runs at once: a GPU each where there are some, else a run for every two
    processors.
    """
    devices = {device_of(one).type for one in settings if one is not None}
    if "cuda" in devices:
        return max(1, torch.cuda.device_count())
    return 1 if devices - {"cpu"} else max(1, cores() // CORES_EACH)


def _one_by_one(
    tasks: Sequence[Planned], numbers: Sequence[int], making: Making, watch: Watch, bench: Bench
) -> Iterator[tuple[int, Row]]:
    for place, run in enumerate(tasks):
        yield place, row_of(run, bench, making, partial(watch.under_way, numbers[place]))


def _at_once(
    tasks: Sequence[Planned], numbers: Sequence[int], making: Making, watch: Watch, jobs: int
) -> Iterator[tuple[int, Row]]:
    """Several processes. What the data say is in the rows; each process would say it again."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    threads = max(1, cores() // jobs)
    start = partial(_ready_to_work, making, threads, gpus)
    watch.say(f"{jobs} runs at once, each with {threads} {'thread' if threads == 1 else 'threads'}")
    for place, found in shared(
        tasks, start, jobs=jobs, told=lambda n, far: watch.under_way(numbers[n], far)
    ):
        if isinstance(found, Lost):
            found = {**_about(tasks[place]), "failed": found.reason}
        yield place, found


def _ready_to_work(
    making: Making, threads: int, gpus: int, number: int
) -> Work[Planned, Under, Row]:
    """In the process of that number: what makes a run. Processes share GPUs by turns, and no
    teachers.
    """
    torch.set_num_threads(threads)
    if gpus:
        torch.cuda.set_device(number % gpus)
    # two that train one teacher would write into each other's files
    own = replace(making, teachers=making.teachers / f"{number}")
    bench = Bench(making.sources, lambda text: None)
    return lambda run, tell: row_of(run, bench, own, tell)


def row_of(run: Planned, bench: Bench, making: Making, tell: Tell[Under]) -> Row:
    """What a run came to; whatever goes wrong in it is its own result, and the others go on.

    A full disk is raised, because the others would meet it too.
    """
    about = _about(run)
    if run.settings is None:
        return {**about, "failed": run.fault}
    try:
        return {**about, **_trained(run, run.settings, bench, making, tell)}
    except WriteError:
        raise
    except Exception as error:
        return {**about, "failed": f"{type(error).__name__}: {error}"}


def _about(run: Planned) -> Row:
    return {
        "key": run.key,
        "data": run.data,
        "encoder": run.encoder,
        "cut": run.cut.name,
        "part": run.part,
        "variant": run.variant,
        "seed": run.seed,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _trained(
    run: Planned, settings: Settings, bench: Bench, making: Making, tell: Tell[Under]
) -> RunResults:
    """Train a model and score it."""
    ready, source, peak = (
        bench.of(run, settings),
        bench.sources[run.data],
        Peak(device_of(settings)),
    )
    # a process that the system kills would take the other runs with it
    require_memory(ready.prepared, settings)
    fitted = fit(
        ready.prepared, settings, Run(teachers=making.teachers, progress=partial(_telling, tell))
    )
    found: RunResults = {
        "dev": dev_metrics(fitted),
        "seconds": round(fitted.seconds, 3),
        "device": device_name(settings),
        "dev_untuned": dev_untuned(fitted, ready),
        "memory": peak.bytes(),
        **scored(fitted, ready, settings, detail=making.detail),
    }
    attempts = Attempts()
    if making.detail:
        page = attempts.of(
            "the report of this run", lambda: page_of(run, ready, fitted, making.pages), ""
        )
        found |= {**course_of(fitted), "page": page}
    return {
        **found,
        "settings": settings.as_dict(),
        "said": [*said(ready, source), *attempts.failed],
    }


def _telling(
    tell: Tell[Under], stream: Iterator[Step], phase: str, start: int, total: int
) -> Iterator[Step]:
    """The steps, told of now and then."""
    score, before = None, 0.0
    for step in stream:
        score, now = score if step.score is None else step.score, time.monotonic()
        if now - before > TELL_EVERY or step.number == total:
            before = now
            tell(Under(phase, step.number, total, score))
        yield step


def require_jobs(jobs: int | None) -> None:
    """Refuse fewer than one at a time."""
    if jobs is not None and jobs < 1:
        raise SettingsError(f"jobs must be at least 1, got {jobs}")
