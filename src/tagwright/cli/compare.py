"""`tagwright compare`."""

from pathlib import Path
from typing import Annotated

import typer

from tagwright.cli import _options as o


def compare(
    data: o.Data,
    objectives: Annotated[
        str, typer.Option(help="Losses or presets, with commas; the first is the baseline.")
    ],
    out: Annotated[Path, typer.Option(help="A folder for the results and the report.")],
    encoders: Annotated[
        str | None,
        typer.Option(
            help="Encoders, with commas; each has its own baseline.", show_default="--encoder's"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each objective on each encoder.")] = 5,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            help="objective:section.key=a,b,c: that objective once for every value.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="The primary metric, named beforehand.",
            show_default="accuracy for one label, else macro_f1",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="What the runs are measured on; thresholds come from dev.",
            show_default="test, else dev",
        ),
    ] = None,
    text: o.Text = None,
    labels: o.Labels = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    encoder: o.Encoder = None,
    head: o.Head = None,
    regularize: o.Regularize = None,
    epochs: o.Epochs = None,
    batch: o.Batch = None,
    learning_rate: o.Rate = None,
    split_seed: o.SplitSeed = None,
    keep: o.Keep = None,
    device: o.Device = None,
    jobs: o.Jobs = None,
    set_: o.Set = None,
    settings: o.SettingsFile = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the runs that are there, and go on.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start over in this folder.")
    ] = False,
    json: o.Json = False,
) -> None:
    """Which objective is best for these labels, and is the difference real? Several seeds on one
    split.

    Every metric with mean, spread and a paired interval against the first objective; a verdict on
    one metric, corrected for the number of objectives; a report. A run that fails is shown as
    failed, the others go on; the exit code is 1.

    Examples:

        tagwright compare shop --objectives bce,zlpr --encoder cnn --seeds 5 --out comparison

        tagwright compare shop --objectives bce,focal,zlpr --sweep focal:loss.gamma=1,2,4 --out c
    """
    from tagwright.cli import _show
    from tagwright.cli._comparison import show_comparison
    from tagwright.cli._live import looking_on
    from tagwright.errors import SettingsError
    from tagwright.pipelines.compare import compare_folder
    from tagwright.settings.split_keep import kept_of

    if encoder and encoders:
        raise SettingsError("give --encoder or --encoders, not both")

    options = {
        "data.text": text,
        "data.labels": labels,
        "data.task": task,
        "data.separator": None if separator == "auto" else separator,
        "encoder.name": encoder,
        "head.name": head,
        **o.regularizers(regularize),
        "fit.epochs": epochs,
        "fit.batch": batch,
        "fit.learning_rate": learning_rate,
        "split.seed": split_seed,
        "split.keep": kept_of(keep),
        "fit.device": device,
    }
    with _show.resumable("finished runs are kept"), looking_on() as watch:
        done = compare_folder(
            data,
            o.in_file(settings),
            chosen=o.of_command(set_, options),
            objectives=o.listed(objectives),
            encoders=o.listed(encoders),
            sweep=sweep or (),
            seeds=seeds,
            jobs=jobs,
            metric=metric,
            split=split,
            out=out,
            resume=resume,
            overwrite=overwrite,
            say=_show.say,
            watch=watch,
        )
    if json:
        _show.emit(done.as_dict())
    else:
        show_comparison(done)
    if done.failed:
        _show.say(
            f"{_show.many(done.failed, 'run')} failed; the same command with --resume makes them"
            " again"
        )
        raise typer.Exit(1)
