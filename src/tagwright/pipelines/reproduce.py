"""`reproduce`: the runs of a recipe one after the other, each kept as it ends, and the tables they
make.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tagwright.errors import ModelError, TagwrightError
from tagwright.experiments.attempts import Attempts
from tagwright.experiments.ledger import Ledger, Made, Row
from tagwright.experiments.plan import Planned, plan, plan_of_rows, read_sources, said_settings
from tagwright.experiments.prepared_cache import Say
from tagwright.experiments.progress import Lines, Watch
from tagwright.experiments.recipe import Recipe, narrowed, read_recipe
from tagwright.experiments.runs import Making, make, require_jobs
from tagwright.experiments.standings import standings
from tagwright.inference.model_folder import versions
from tagwright.reports.picture import picture
from tagwright.reports.plots import load_altair
from tagwright.reports.reproduce import RecipeFacts, ResultTable, RivalTable, reproduce_report
from tagwright.settings.merge import assigned, merge
from tagwright.storage.files import json_ready, write_text
from tagwright.storage.folder import require_ours
from tagwright.storage.lock import LOCK, locked, require_free

LEDGER, TABLES, SUMMARY, PICTURE = "results.jsonl", "results.md", "results.json", "results.svg"


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """What a recipe came to."""

    facts: RecipeFacts
    failed: int
    report: Path

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return json_ready({**asdict(self.facts), "failed": self.failed, "report": str(self.report)})


def reproduce(
    name: str,
    *,
    out: Path,
    data: Path | None = None,
    only: Sequence[str] = (),
    seeds: int | None = None,
    device: str | None = None,
    more: Sequence[str] = (),
    jobs: int | None = None,
    say: Say = lambda text: None,
    watch: Callable[[str], Watch] | None = None,
) -> Reproduced:
    """Make every run of a recipe that `out` does not have yet, and its tables. `more` are settings
    as for --set.

    `jobs` runs are made at once, None: as many as the machine allows. `watch` makes of the metric
    who looks on.
    """
    require_jobs(jobs)
    recipe = read_recipe(name)
    wanted = list(dict.fromkeys(one for one, *_ in narrowed(recipe, only)))
    require_ours(out, (LEDGER, LOCK), "folder of results")
    require_free(out)
    sources = read_sources(recipe, wanted, data, more)
    count = seeds or recipe.seeds
    runs = plan(recipe, sources, only=only, seeds=count, device=device, more=more)
    options = {
        "--data": data and data.name,
        "--out": out.name,
        "--only": ",".join(only),
        "--seeds": seeds,
    }
    words = [f"{key} {value}" for key, value in {**options, "--device": device}.items() if value]
    command = " ".join(
        ["tagwright reproduce", recipe.name, *words, *(f"--set {one}" for one in more)]
    )
    with locked(out):
        ledger = Ledger(out / LEDGER, say)

        def write() -> RecipeFacts:
            return _write(
                out, _facts(recipe, runs, ledger, command, count, said_settings(recipe, only)), say
            )

        making = Making(sources=sources, teachers=out / "teachers")
        looks_on = watch(recipe.metric) if watch else Lines(recipe.metric, say)
        left = Counter(run.cell for run in runs if ledger.finished(run.key) is None)
        made: Made = {"set": list(more), "versions": versions()}
        try:
            for number in make(runs, making, ledger, jobs=jobs, watch=looks_on, made=made):
                left[runs[number].cell] -= 1
                if not left[runs[number].cell]:  # a whole table
                    write()
        finally:  # what is there is shown, also when the rest was given up
            facts = write()
    return Reproduced(facts=facts, failed=_failed(runs, ledger), report=out / TABLES)


def write_tables(
    name: str,
    *,
    out: Path,
    only: Sequence[str] = (),
    seeds: int | None = None,
    say: Say = lambda text: None,
) -> Reproduced:
    """The tables of what is there, wherever it was made; nothing is run, and no data are read."""
    recipe = read_recipe(name)
    ledger = Ledger(out / LEDGER, say)
    if not ledger.rows:
        raise ModelError(
            f"{out} has no runs ({LEDGER}) to make tables of; leave --tables out to make them"
        )
    count = seeds or max(recipe.seeds, *(row["seed"] + 1 for row in ledger.rows.values()))
    runs = plan_of_rows(recipe, ledger.rows.values(), only=only, seeds=count)
    options = {"--only": ",".join(only), "--seeds": seeds}
    words = [f"{key} {value}" for key, value in options.items() if value]
    words += [
        f"--set {one}"
        for one in _set_of([ledger.rows[run.key] for run in runs if run.key in ledger.rows])
    ]
    command = " ".join(["tagwright reproduce", recipe.name, *words])
    facts = _write(
        out, _facts(recipe, runs, ledger, command, count, said_settings(recipe, only)), say
    )
    return Reproduced(facts=facts, failed=_failed(runs, ledger), report=out / TABLES)


def _failed(runs: Sequence[Planned], ledger: Ledger) -> int:
    return sum("failed" in ledger.rows.get(run.key, {}) for run in runs)


def _facts(
    recipe: Recipe,
    runs: Sequence[Planned],
    ledger: Ledger,
    command: str,
    seeds: int,
    own_settings: Mapping[str, Mapping[str, object]],
) -> RecipeFacts:
    """All that is known now; runs that are not made yet are missing from it."""
    rows = [ledger.rows[run.key] for run in runs if run.key in ledger.rows]
    cells = dict.fromkeys(run.cell for run in runs)
    return RecipeFacts(
        title=recipe.title,
        paper=recipe.paper,
        note=recipe.note,
        metric=recipe.metric,
        also=recipe.also,
        amounts=recipe.amounts,
        settings=merge(recipe.settings, assigned(_set_of(rows))),
        command=command,
        date=max((row["when"] for row in rows), default=datetime.now(UTC).isoformat())[:10],
        versions=_versions_of(rows),
        devices=list(dict.fromkeys(row["device"] for row in rows if "device" in row)),
        seeds=seeds,
        runs=len(runs),
        finished=sum("failed" not in row for row in rows),
        own_settings={**recipe.settings_of, **own_settings},
        tables=[
            _table([run for run in runs if run.cell == cell], ledger, recipe) for cell in cells
        ],
        rivals=list(_rivals(runs, ledger, recipe)) if recipe.rivals else [],
    )


def _set_of(rows: Sequence[Row]) -> Sequence[str]:
    """What all the runs were made with beside the recipe; several at once are an error."""
    found = list(dict.fromkeys(tuple(row.get("set", ())) for row in rows)) or [()]
    if len(found) > 1:
        words = " and ".join(" ".join(f"--set {one}" for one in each) or "none" for each in found)
        raise ModelError(
            f"the runs were made with different settings ({words}); take a folder for each"
        )
    return found[0]


def _versions_of(rows: Sequence[Row]) -> dict[str, str]:
    """The versions that the runs were made with, all of them."""
    found: dict[str, dict[str, None]] = {}
    for name, number in (pair for row in rows for pair in row.get("versions", {}).items()):
        found.setdefault(name, {})[number] = None
    return {name: " and ".join(numbers) for name, numbers in found.items()} or versions()


def _table(runs: Sequence[Planned], ledger: Ledger, recipe: Recipe) -> ResultTable:
    by_variant = _grouped(runs, ledger, [run.variant for run in runs])
    rows = [row for found in by_variant.values() for row in found.values()]
    data, encoder, cut = runs[0].cell
    return ResultTable(
        data=data,
        encoder=encoder,
        cut=cut,
        parts=runs[0].cut.size,
        texts=next((row["texts"] for row in rows if "texts" in row), None),
        tokens=next((row["tokens"] for row in rows if "tokens" in row), None),
        lines=standings(
            by_variant,
            recipe.metric,
            baseline=recipe.baseline,
            parts=runs[0].cut.size,
            also=recipe.also,
        ),
        notes=list(dict.fromkeys(sentence for row in rows for sentence in row.get("said", ()))),
    )


def _grouped(
    runs: Sequence[Planned], ledger: Ledger, names: Sequence[str]
) -> dict[str, dict[tuple[int, str], Row]]:
    """Rows that are there, by seed and part, under the name that each run has."""
    found: dict[str, dict[tuple[int, str], Row]] = {name: {} for name in names}
    for run, name in zip(runs, names):
        if run.key in ledger.rows:
            found[name][run.seed, run.part] = ledger.rows[run.key]
    return found


def _rivals(runs: Sequence[Planned], ledger: Ledger, recipe: Recipe) -> Iterator[RivalTable]:
    """Encoders against the first, of every data set, cut and variant that several of them have."""
    for data, cut, variant in dict.fromkeys((run.data, run.cut.name, run.variant) for run in runs):
        here = [
            run for run in runs if (run.data, run.cut.name, run.variant) == (data, cut, variant)
        ]
        by_encoder = _grouped(here, ledger, [run.encoder for run in here])
        first, size = recipe.encoders[0], here[0].cut.size
        if first in by_encoder and len(by_encoder) > 1:
            lines = standings(
                by_encoder, recipe.metric, baseline=first, parts=size, also=recipe.also
            )
            yield RivalTable(data=data, cut=cut, variant=variant, lines=lines)


def _picture(facts: RecipeFacts) -> str | None:
    """None where there is nothing to draw yet, or nothing to draw with: `--tables` makes it
    elsewhere.
    """
    try:
        load_altair()
    except TagwrightError:
        return None
    return picture(facts)


def _write(out: Path, facts: RecipeFacts, say: Say) -> RecipeFacts:
    """The summary first: tables or a picture that cannot be made do not lose it. A picture that
    fails is said.
    """
    out.mkdir(parents=True, exist_ok=True)
    summary = json.dumps(json_ready(asdict(facts)), indent=1, ensure_ascii=False)
    write_text(out / SUMMARY, summary + "\n")
    write_text(out / TABLES, reproduce_report(facts))
    drawn = Attempts(say).of(PICTURE, lambda: _picture(facts), None)
    if drawn is not None:
        write_text(out / PICTURE, drawn)
    return facts
