"""`tagwright fit`."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.models.distributed import Ranks

EXAMPLES = """Train a tagger: split, learn, fit the decision on dev, write a model and a report.

Examples:

    tagwright fit mails.csv --out model

    tagwright fit shop --encoder bow --objective zlpr --out model

    tagwright fit pages.jsonl --text title,body --labels tags --set encoder.filters=256 --out model

    tagwright fit mails.csv --heads topic,urgency --set heads.urgency.objective=bce --out model

A killed or interrupted run goes on with the same command and --resume. The report, the log and the
checkpoints are in OUT.run. The report quotes texts of the data; the model folder does not.

Several GPUs or machines train one model with torchrun, see docs/many-machines.md:

    torchrun --nproc_per_node 4 -m tagwright fit mails.csv --encoder minilm --out model
"""


def fit(
    data: o.Data,
    out: Annotated[Path, typer.Option(help="The model folder to write.")],
    text: o.Text = None,
    labels: o.Labels = None,
    heads: o.Heads = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    strict: o.Strict = None,
    encoder: o.Encoder = None,
    head: o.Head = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="A loss or preset: `tagwright parts`.",
            show_default="focal; one label: cross_entropy; with bow bce and squared_hinge",
        ),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="Another loss than the objective's.", show_default=False)
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(help="hard, …: `tagwright parts targets`.", show_default="the objective's"),
    ] = None,
    soft_from_step: Annotated[
        int | None, typer.Option(help="The step from which on soft labels count.", show_default="0")
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option(
            help="none, groups, …: `tagwright parts masks`.", show_default="the objective's"
        ),
    ] = None,
    label_weights: Annotated[
        str | None,
        typer.Option(
            help="none, inverse, ee, …: `tagwright parts weights`.", show_default="the objective's"
        ),
    ] = None,
    regularize: o.Regularize = None,
    decide: Annotated[
        str | None,
        typer.Option(
            help="argmax, zero, fixed, topk or threshold.",
            show_default="argmax for one label, else threshold",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="What the best model is chosen by on dev.",
            show_default="accuracy for one label, else lrap; with very many in chunks ndcg_at_5",
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            help="linear, bat, …: `tagwright parts schedules`.",
            show_default="the encoder's, else linear",
        ),
    ] = None,
    epochs: o.Epochs = None,
    batch: o.Batch = None,
    learning_rate: o.Rate = None,
    refit: Annotated[
        bool | None,
        typer.Option(
            "--refit/--no-refit",
            help="Train on train + dev once the choices are made.",
            show_default="only for bow",
        ),
    ] = None,
    head_chunk: Annotated[
        int | None,
        typer.Option(
            help="For very many labels: so many at a time, e.g. 16384; 0 all at once.",
            show_default="0",
            min=0,
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Word vectors to start from: GloVe text, or .npy with .words beside.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of weights, order and dropout.", show_default="0")
    ] = None,
    split_seed: o.SplitSeed = None,
    keep: o.Keep = None,
    device: o.Device = None,
    deterministic: Annotated[
        bool | None,
        typer.Option(
            "--deterministic", help="Same bits on a GPU too, at some cost.", show_default=False
        ),
    ] = None,
    set_: o.Set = None,
    settings: o.SettingsFile = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was killed.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a model or unfinished run of that name.")
    ] = False,
    json: o.Json = False,
) -> None:
    """Train a tagger."""
    from tagwright.cli import _show
    from tagwright.models.distributed import joined
    from tagwright.pipelines.fit import fit_folder
    from tagwright.reports.facts import refitted
    from tagwright.settings.split_keep import kept_of

    options = {
        "data.text": text,
        "data.labels": labels,
        "heads": o.heads_of(heads),
        "data.task": task,
        "data.separator": None if separator == "auto" else separator,
        "data.strict": strict,
        "encoder.name": encoder,
        "head.name": head,
        "objective": objective,
        "loss.name": loss,
        "targets.name": targets,
        "soft.from_step": soft_from_step,
        "mask.name": mask,
        "weights.name": label_weights,
        **o.regularizers(regularize),
        "decide.name": decide,
        "fit.metric": metric,
        "schedule.name": schedule,
        "fit.epochs": epochs,
        "fit.batch": batch,
        "fit.learning_rate": learning_rate,
        "fit.refit": refit,
        "head.chunk": head_chunk,
        "fit.vectors": None if vectors is None else str(vectors),
        "fit.seed": seed,
        "split.seed": split_seed,
        "split.keep": kept_of(keep),
        "fit.device": device,
        "fit.deterministic": deterministic,
    }
    with joined() as ranks, _one_voice(ranks), _asked_by_signals() as asked:
        outcome = fit_folder(
            data,
            o.given(settings, set_, options),
            out=out,
            resume=resume,
            overwrite=overwrite,
            progress=_show.training_bar,
            asked=lambda: bool(asked),
            say=_show.say,
            ranks=ranks,
        )
    if not ranks.first:
        return
    if json:
        _show.emit(outcome.as_dict())
    else:
        _show.fit_tables(outcome)
    if outcome.refitted_on is not None:
        _show.say(refitted(outcome.refitted_on))
    _show.say(
        f"model:  {outcome.model}\nreport:"
        f" {outcome.report or 'none: altair and vl-convert are not installed'}"
    )


@contextmanager
def _one_voice(ranks: "Ranks") -> Iterator[None]:
    """What all processes of a machine would say at once, one says: that another failed, or that the
    run was stopped.
    """
    from tagwright.models.distributed import RankError
    from tagwright.training.step_stream import Interrupted

    try:
        yield
    except (Interrupted, RankError) as error:
        if ranks.local:
            raise typer.Exit(130 if isinstance(error, Interrupted) else 2) from None
        raise


@contextmanager
def _asked_by_signals() -> Iterator[list[int]]:
    """A list that gets the number of the first SIGINT or SIGTERM; a second one ends the program at
    once.
    """
    asked: list[int] = []

    def ask(number: int, frame: object) -> None:
        asked.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


fit.__doc__ = EXAMPLES
