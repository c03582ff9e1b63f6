"""`fit` from a source to a model folder, its run folder and its report."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tagwright.analysis.run_facts import card_of, refitted_on, report_pages
from tagwright.data.dataset import of_head
from tagwright.errors import ModelError, WriteError
from tagwright.experiments.attempts import Attempts
from tagwright.inference import model_folder
from tagwright.models.distributed import ALONE, Ranks
from tagwright.settings.schema import Settings, check_settings
from tagwright.storage.folder import named, require_model
from tagwright.storage.lock import require_free
from tagwright.training.check import check, score_of
from tagwright.training.distributed_limits import check_ranks
from tagwright.training.fitted import Fitted, TrainedNetwork, decided, undecided
from tagwright.training.prepare import prepare
from tagwright.training.prepared import Prepared
from tagwright.training.read_data import read_for
from tagwright.training.run_folder import (
    Outcome,
    clear_run,
    clear_state,
    held_by,
    read_outcome,
    refuse_run,
    run_folder,
    write_outcome,
    write_pages,
)
from tagwright.training.state import Progress, Run, nothing, silent
from tagwright.training.train import train

UNDESCRIBED = "# A text tagger made with Tagwright\n"
UNDECIDED = f"{UNDESCRIBED}\n## Decision rule\n\nNot fitted yet: `tagwright decide` does that.\n"


@dataclass(frozen=True, kw_only=True)
class HeadResult:
    """What one of several heads came to on dev: metrics of its labels, on so many rows or
    tokens.
    """

    metrics: Mapping[str, float]
    label_names: tuple[str, ...]
    rows: int
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """What a finished run left behind."""

    model: Path
    report: Path | None
    metrics: dict[str, float]
    rows: int
    seconds: float
    refitted_on: int | None = None  # texts of train and dev
    tokens: int | None = None  # of the rows, where these are tagged
    label_names: tuple[str, ...] = ()
    # every head, where there are several
    heads: Mapping[str, HeadResult] = field(default_factory=dict)

    def as_dict(self) -> Outcome:
        """Ready for JSON."""
        found: Outcome = {
            "metrics": self.metrics,
            "split": "dev",
            "convention": "sklearn",
            "rows": self.rows,
            "refitted_on": self.refitted_on,
        }
        if self.tokens is not None:
            found["tokens"] = self.tokens
        if self.heads:
            found["heads"] = {name: dict(head.metrics) for name, head in self.heads.items()}
        return {
            **found,
            "seconds": round(self.seconds, 3),
            "model": str(self.model),
            "report": None if self.report is None else str(self.report),
        }


def fit_folder(
    source: str,
    given: Mapping[str, object],
    *,
    out: Path,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
    asked: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda text: None,
    ranks: Ranks = ALONE,
) -> FitResult:
    """Train on a source and write `out`; state and report stand in `out`.run. A mistake writes
    nothing.

    Of several processes (`ranks`) all read and train, and the first alone writes and speaks.
    """
    # a path by its name stays true when the folder that it was named from is replaced
    out = named(out)
    folder, replaces = run_folder(out), overwrite or resume
    say, progress = (say, progress) if ranks.first else (nothing, silent)
    model_may_stand = overwrite or (resume and folder.exists())
    with ranks.together():  # what one refuses, all refuse, and none writes before all have looked
        check_settings(given)  # all faults of the settings, before a large file is read
        require_free(folder)
        _refuse_model(out, may_stand=model_may_stand)
        prepared, settings = _prepared(source, given, say, ranks)
        require_free(folder)  # reading may have taken long
        _refuse_model(out, may_stand=model_may_stand)
        refuse_run(folder, may_stand=replaces)
        fingerprint = prepared.fingerprint(settings)
        done = _finished(out, prepared, fingerprint) if resume else None
    if ranks.all(done is not None) and done is not None:
        return done
    with held_by(ranks, folder):
        with ranks.together():  # another run may have ended since
            _refuse_model(out, may_stand=model_may_stand)
            refuse_run(folder, may_stand=replaces)
            done = _finished(out, prepared, fingerprint) if resume else None
            if overwrite and not resume and ranks.first:
                clear_run(folder)
        if done is not None:
            return done
        trained = train(
            prepared,
            settings,
            Run(folder=folder, progress=progress, say=say, asked=asked, ranks=ranks),
        )
        return _saved(trained, out, fingerprint, say, ranks, replaces=replaces)


def _saved(
    trained: TrainedNetwork,
    out: Path,
    fingerprint: str,
    say: Callable[[str], None],
    ranks: Ranks,
    *,
    replaces: bool,
) -> FitResult:
    """Write the model before anything else is made of it; then its decision and all that tells of
    it.
    """
    with ranks.together():
        if ranks.first:
            model_folder.save(undecided(trained), out, card=UNDECIDED, overwrite=replaces)
        with _saved_already(out):
            return _outcome(
                trained.prepared, decided(trained), out, fingerprint, say, writes=ranks.first
            )


@contextmanager
def _saved_already(out: Path) -> Iterator[None]:
    """What goes wrong inside does not take the trained model with it."""
    try:
        yield
    except WriteError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ModelError(
            f"the model is trained and saved in {out}, but its decision could not be fitted and"
            f" written ({reason}). Until then it decides by a plain rule; fit another with"
            f" `tagwright decide {out} DATA`"
        ) from error


def _prepared(
    source: str, given: Mapping[str, object], say: Callable[[str], None], ranks: Ranks
) -> tuple[Prepared, Settings]:
    """The data, ready to train on, and the settings; all that was found is said, what cannot be
    trained is refused.
    """
    data, settings = read_for(source, given)
    for sentence in data.found:
        say(sentence)
    if ranks.world > 1:
        check_ranks(settings, ranks)
    prepared = prepare(data, settings)
    for sentence in (*prepared.found[len(data.found) :], *_dropped(prepared), *prepared.warnings):
        say(sentence)
    for sentence in (*check(prepared, settings), *score_of(prepared, settings)):
        say(sentence)
    return prepared, settings


def _outcome(
    prepared: Prepared,
    fitted: Fitted,
    out: Path,
    fingerprint: str,
    say: Callable[[str], None],
    *,
    writes: bool,
) -> FitResult:
    """Write the decision, the card, the report and what the run came to, where this process
    `writes`.
    """
    folder, report = run_folder(out), None
    if writes:
        attempts = Attempts(say)
        card = attempts.of("the model card", lambda: card_of(prepared, fitted), UNDESCRIBED)
        model_folder.rewrite(fitted.model, out, card=card)
        report = write_pages(
            folder, attempts.of("the report", lambda: report_pages(prepared, fitted), {})
        )
    heads = _head_outcomes(
        prepared, {name: head.metrics["metrics"] for name, head in fitted.model.heads.items()}
    )
    first = heads.get(prepared.first)
    tagged_tokens = len(prepared.sheets["dev"].tags) if prepared.tagged else None
    outcome = FitResult(
        model=out,
        report=report,
        rows=first.rows if first else prepared.tables["dev"].num_rows,
        tokens=first.tokens if first else tagged_tokens,
        label_names=prepared.space.names,
        heads=heads,
        seconds=fitted.seconds,
        metrics=fitted.heads[prepared.first].head.metrics["metrics"],
        refitted_on=refitted_on(prepared, fitted),
    )
    if writes:
        write_outcome(folder, {**outcome.as_dict(), "fingerprint": fingerprint})
        clear_state(folder)  # the model stands; its checkpoints have served
    return outcome


def _refuse_model(out: Path, *, may_stand: bool) -> None:
    require_model(out)
    if out.exists() and not may_stand:
        raise ModelError(f"{out} exists; choose another --out, or replace it with --overwrite")


def _finished(out: Path, prepared: Prepared, fingerprint: str) -> FitResult | None:
    """What a finished run came to; None where there is none. One of other data or settings is an
    error.
    """
    content = read_outcome(run_folder(out)) if out.exists() else None
    if content is None:
        return None
    if content["fingerprint"] != fingerprint:
        raise ModelError(
            f"{out} is finished, with other data or settings; choose another --out, or use"
            " --overwrite"
        )
    return FitResult(
        model=out,
        report=Path(content["report"]) if content["report"] else None,
        metrics=content["metrics"],
        rows=content["rows"],
        seconds=content["seconds"],
        refitted_on=content.get("refitted_on"),
        tokens=content.get("tokens"),
        label_names=prepared.space.names,
        heads=_head_outcomes(prepared, content.get("heads", {})),
    )


def _dropped(prepared: Prepared) -> list[str]:
    dropped = prepared.dropped.items()
    return [
        f"left out: {count} {'row' if count == 1 else 'rows'} with {reason}"
        for reason, count in dropped
    ]


def _head_outcomes(
    prepared: Prepared, metrics: Mapping[str, Mapping[str, float]]
) -> dict[str, HeadResult]:
    """What several heads came to; nothing of one alone."""
    if len(prepared.heads) < 2:
        return {}
    return {name: _head_outcome(prepared, name, metrics[name]) for name in prepared.heads}


def _head_outcome(prepared: Prepared, name: str, metrics: Mapping[str, float]) -> HeadResult:
    head, table = prepared.heads[name], of_head(prepared.tables["dev"], name)
    rows = table.num_rows - table["tags" if head.tags_tokens else "labels"].null_count
    tokens = int((head.tags["dev"] >= 0).sum()) if head.tags is not None else None
    return HeadResult(metrics=metrics, label_names=head.space.names, rows=rows, tokens=tokens)
