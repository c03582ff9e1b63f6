"""`tagwright compare`."""

from pathlib import Path
from typing import Annotated

import typer

from tagwright.cli import _options as o


def compare(
    data: o.Data,
    objectives: Annotated[str, typer.Option(help="Losses or presets, with commas; the first is the baseline.")],
    out: Annotated[Path, typer.Option(help="A folder for the results and the report.")],
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each objective.")] = 5,
    metric: Annotated[
        str | None,
        typer.Option(
            help="The primary metric, named beforehand.", show_default="accuracy for one label, else macro_f1"
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="What the runs are measured on; thresholds come from dev.", show_default="test, else dev"),
    ] = None,
    text: o.Text = None,
    labels: o.Labels = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    encoder: o.Encoder = None,
    head: o.Head = None,
    regularise: o.Regularise = None,
    epochs: o.Epochs = None,
    batch: o.Batch = None,
    learning_rate: o.Rate = None,
    split_seed: o.SplitSeed = None,
    keep: o.Keep = None,
    device: o.Device = None,
    set_: o.Set = None,
    settings: o.SettingsFile = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the runs that are there, and go on.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start over in this folder.")] = False,
    json: o.Json = False,
) -> None:
    """Compare objectives on one split with several seeds: mean, spread, and a paired interval against the first.

    Example:

        tagwright compare shop --objectives bce,zlpr --encoder cnn --seeds 5 --out comparison
    """
    from tagwright.assemble.compare import compare_folder
    from tagwright.cli import _show
    from tagwright.cli._comparison import show_comparison
    from tagwright.kept import kept_of

    options = {
        "data.text": text,
        "data.labels": labels,
        "data.task": task,
        "data.separator": None if separator == "auto" else separator,
        "encoder.name": encoder,
        "head.name": head,
        **o.regularisers(regularise),
        "fit.epochs": epochs,
        "fit.batch": batch,
        "fit.learning_rate": learning_rate,
        "split.seed": split_seed,
        "split.keep": kept_of(keep),
        "fit.device": device,
    }
    with _show.resumable("finished runs are kept"):
        done = compare_folder(
            data,
            o.given(settings, set_, options),
            objectives=[name.strip() for name in objectives.split(",") if name.strip()],
            seeds=seeds,
            metric=metric,
            split=split,
            out=out,
            resume=resume,
            overwrite=overwrite,
            progress=_show.training_bar,
            say=_show.say,
        )
    if json:
        _show.emit(done.as_dict())
    else:
        show_comparison(done)
