"""`fit` from a source to a model folder, its run folder and its report."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tagwright import bundle
from tagwright.assemble.attempts import Attempts
from tagwright.assemble.decided import Fitted, decided, undecided
from tagwright.assemble.exact import is_exact
from tagwright.assemble.facts import card_facts, fit_facts, refitted_on, tags_alone
from tagwright.assemble.prepare import Prepared, prepare
from tagwright.assemble.ranks import check_ranks
from tagwright.assemble.sheets import with_cut
from tagwright.assemble.train import check, train, watched
from tagwright.assemble.training import Progress, Run, nothing, silent
from tagwright.errors import ModelError
from tagwright.fit.ranks import ALONE, Ranks
from tagwright.folder import named, require_model, require_ours
from tagwright.read import Data, read_data
from tagwright.report import fit_report, model_card
from tagwright.settings import Settings, check_settings, resolve

PHASES = ("fit", "refit", "teacher")
TAGS_REPORT = "report-tags.html"  # where labels of texts are learnt, too
UNDESCRIBED = "# A text tagger made with Tagwright\n"
UNDECIDED = f"{UNDESCRIBED}\n## Decision rule\n\nNot fitted yet: `tagwright decide` does that.\n"
RUN_MARKS = (*PHASES, "outcome.json", "report.html")  # what tells a run folder for ours


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a finished run left behind."""

    model: Path
    report: Path | None
    metrics: dict[str, float]
    rows: int
    seconds: float
    refitted_on: int | None = None  # texts of train and dev
    tokens: int | None = None  # of the rows, where these are tagged
    label_names: tuple[str, ...] = ()
    tag_names: tuple[str, ...] = ()
    tags: Mapping[str, float] | None = None  # metrics of the head for tokens, beside that for texts

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        facts = {"split": "dev", "convention": "sklearn", "rows": self.rows, "refitted_on": self.refitted_on}
        facts |= {} if self.tokens is None else {"tokens": self.tokens}
        facts |= {} if self.tags is None else {"tags": dict(self.tags)}
        report = None if self.report is None else str(self.report)
        files = {"model": str(self.model), "report": report}
        return {"metrics": self.metrics, **facts, "seconds": round(self.seconds, 3), **files}


def fit_folder(
    source: str,
    given: Mapping[str, Any],
    *,
    out: Path,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
    asked: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda text: None,
    ranks: Ranks = ALONE,
) -> Outcome:
    """Train on a source and write `out`; state and report stand in `out`.run. A mistake writes nothing.

    Of several processes (`ranks`) all read and train, and the first alone writes and speaks.
    """
    out = named(out)  # a path by its name stays true when the folder that it was named from is replaced
    folder = run_folder(out)
    say, progress = (say, progress) if ranks.first else (nothing, silent)
    with ranks.together():  # what one refuses, all refuse, and none writes before all have looked
        check_settings(given)  # all faults of the settings, before a large file is read
        _refuse_model(out, may_stand=overwrite or (resume and folder.exists()))
        prepared, settings = _prepared(source, given, say, ranks)
        _refuse_run(folder, may_stand=overwrite or resume)
        finished = resume and out.exists() and (folder / "outcome.json").exists()
        if finished:
            done = _finished(out, folder, prepared.fingerprint(settings))
            return replace(done, label_names=prepared.space.names, tag_names=_tag_names(prepared))
    with ranks.together():
        if overwrite and not resume and ranks.first:
            _clear(folder, ("elements.csv", TAGS_REPORT, *RUN_MARKS))  # the marks last: a kill leaves a run folder
    with _kept_if_filled(folder) if ranks.first else nullcontext():
        trained = train(prepared, settings, Run(folder=folder, progress=progress, say=say, asked=asked, ranks=ranks))
    with ranks.together():
        if ranks.first:  # before anything else is made of it
            bundle.save(undecided(trained), out, card=UNDECIDED, overwrite=overwrite or resume)
        with _saved_already(out):
            fingerprint = prepared.fingerprint(settings)
            return _outcome(prepared, decided(trained), out, fingerprint, say, writes=ranks.first)


@contextmanager
def _saved_already(out: Path) -> Iterator[None]:
    """What goes wrong inside does not take the trained model with it."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ModelError(
            f"the model is trained and saved in {out}, but its decision could not be fitted and written ({reason}). "
            f"Until then it decides by a plain rule; fit another with `tagwright decide {out} DATA`"
        ) from error


def _prepared(
    source: str, given: Mapping[str, Any], say: Callable[[str], None], ranks: Ranks
) -> tuple[Prepared, Settings]:
    """The data, ready to train on, and the settings; all that was found is said, what cannot be trained is refused."""
    data, settings = read_for(source, given)
    for sentence in data.found:
        say(sentence)
    check_ranks(settings, ranks)
    prepared = prepare(data, settings)
    for sentence in (*prepared.found[len(data.found) :], *_dropped(prepared), *prepared.warnings):
        say(sentence)
    for sentence in check(prepared, settings):
        say(sentence)
    if not is_exact(settings):  # there is one solution, and none to be chosen
        say(f"score: {watched(settings, prepared.space)} on dev")
    return prepared, settings


def _outcome(
    prepared: Prepared, fitted: Fitted, out: Path, fingerprint: str, say: Callable[[str], None], *, writes: bool
) -> Outcome:
    """Write the decision, the card, the report and what the run came to, where this process `writes`."""
    folder, report = run_folder(out), None
    if writes:
        attempts = Attempts(say)
        card = attempts.of("the model card", lambda: model_card(card_facts(prepared, fitted)), UNDESCRIBED)
        bundle.rewrite(fitted.model, out, card=card)
        report = attempts.of("the report", lambda: write_report(prepared, fitted, folder), None)
    outcome = Outcome(
        model=out,
        report=report,
        rows=prepared.tables["dev"].num_rows,
        tokens=len(prepared.sheets["dev"].tags) if prepared.tagged else None,
        tags=fitted.tags.head.metrics["metrics"] if fitted.tags else None,
        label_names=prepared.space.names,
        tag_names=_tag_names(prepared),
        seconds=fitted.seconds,
        metrics=_metrics(fitted),
        refitted_on=refitted_on(prepared, fitted),
    )
    if writes:
        done = {**outcome.as_dict(), "fingerprint": fingerprint}
        (folder / "outcome.json").write_text(json.dumps(done), encoding="utf-8")
        _clear(folder, PHASES)  # the model stands; its checkpoints have served
    return outcome


def run_folder(out: Path) -> Path:
    """Where the run of a model folder keeps its state and report."""
    out = named(out)
    return out.with_name(f"{out.name}.run")


def read_for(source: str, given: Mapping[str, Any]) -> tuple[Data, Settings]:
    """The data and the resolved settings, whose defaults depend on the task."""
    data = read_data(source, **{key: value for key, value in given.get("data", {}).items() if key != "cut"})
    settings = resolve(given, data.task, data.size)
    # what was found is kept with the model, so that `tag` and `score` look into the same columns
    columns = ",".join(data.text_columns) or settings.data.text
    kept = replace(settings.data, text=columns, separator=data.separator)
    return data, with_cut(replace(settings, data=kept), data)


def write_report(prepared: Prepared, fitted: Fitted, folder: Path) -> Path | None:
    """The HTML report of a run, and one of the tags beside labels; None where the plotting libraries are missing."""
    if not can_report():
        return None
    path = folder / "report.html"
    path.write_text(fit_report(fit_facts(prepared, fitted)), encoding="utf-8")
    if fitted.tags is not None:
        tags = fit_report(fit_facts(*tags_alone(prepared, fitted, fitted.tags)))
        (folder / TAGS_REPORT).write_text(tags, encoding="utf-8")
    return path


def can_report() -> bool:
    """Whether the plotting libraries are installed; training does without."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert", "jinja2"))


def _refuse_model(out: Path, *, may_stand: bool) -> None:
    require_model(out)
    if out.exists() and not may_stand:
        raise ModelError(f"{out} exists; choose another --out, or replace it with --overwrite")


def _refuse_run(folder: Path, *, may_stand: bool) -> None:
    require_ours(folder, RUN_MARKS, "run folder")
    if folder.exists() and not may_stand:
        raise ModelError(f"an unfinished run stands in {folder}; go on with --resume, or start over with --overwrite")


def _clear(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
        if (folder / name).is_file():
            (folder / name).unlink()


@contextmanager
def _kept_if_filled(folder: Path) -> Iterator[None]:
    """Makes the folder; a failure that left no file in it takes it away again."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if not any(path.is_file() for path in folder.rglob("*")):
            shutil.rmtree(folder)
        raise


def _finished(out: Path, folder: Path, fingerprint: str) -> Outcome:
    content = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
    if content["fingerprint"] != fingerprint:
        raise ModelError(f"{out} is finished, with other data or settings; choose another --out, or use --overwrite")
    report = Path(content["report"]) if content["report"] else None
    return Outcome(
        model=out,
        report=report,
        metrics=content["metrics"],
        rows=content["rows"],
        seconds=content["seconds"],
        refitted_on=content.get("refitted_on"),
        tokens=content.get("tokens"),
        tags=content.get("tags"),
    )


def _dropped(prepared: Prepared) -> list[str]:
    dropped = prepared.dropped.items()
    return [f"left out: {count} {'row' if count == 1 else 'rows'} with {reason}" for reason, count in dropped]


def _tag_names(prepared: Prepared) -> tuple[str, ...]:
    return () if prepared.tag_space is None else prepared.tag_space.names


def _metrics(fitted: Fitted) -> dict[str, float]:
    found: dict[str, float] = fitted.model.primary.metrics["metrics"]
    return found
