"""`tagwright check`."""

from pathlib import Path
from typing import Annotated

import typer

from tagwright.cli import _options as o


def check(
    data: o.Data,
    text: o.Text = None,
    labels: o.Labels = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    strict: o.Strict = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML page with plots here.", show_default=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the report.")] = False,
    json: o.Json = False,
) -> None:
    """Look at labelled text before training: columns, counts, long tail, duplicates, leaks,
    look-alike labels.

    Example:

        tagwright check mails.csv --report check.html
    """
    from tagwright.cli import _show
    from tagwright.pipelines.check import check_source

    found = check_source(
        data,
        text=text,
        labels=labels,
        task=task,  # type: ignore[arg-type]
        separator=separator,
        strict=bool(strict),
        report=report,
        overwrite=overwrite,
    )
    if json:
        _show.emit(found.as_dict())
        return
    from tagwright.cli._audit import show_audit

    show_audit(found)
    if report:
        _show.say(f"report: {report}")
