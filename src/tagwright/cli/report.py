"""`tagwright report`."""

from pathlib import Path
from typing import Annotated

import typer

from tagwright.cli import _options as o


def report(
    model: o.ModelFolder,
    data: o.Data,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")],
    split: Annotated[
        str | None,
        typer.Option(help="train, dev or test.", show_default="test, else dev, else all rows"),
    ] = None,
    head: o.FirstHead = None,
    text: o.Text = None,
    labels: o.Labels = None,
    separator: o.Separator = "auto",
    device: o.Device = None,
    allow_plugins: o.Plugins = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Write an HTML report of a model on labelled data: per label, by frequency band, calibration,
    confused pairs.

    The page quotes texts of the data. `fit` writes one for dev by itself.

    Example:

        tagwright report model held_out.csv --out report.html
    """
    from tagwright.cli import _show
    from tagwright.pipelines.report import report_folder

    columns = {"text": text, "labels": labels, "separator": separator}
    report_folder(
        model,
        data,
        out,
        split=split,
        overwrite=overwrite,
        head=head,
        device=device or "auto",
        plugins=allow_plugins,
        **columns,
    )
    _show.say(f"report: {out}")
