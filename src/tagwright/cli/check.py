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
    from tagwright.analysis.audit import audit
    from tagwright.cli import _show
    from tagwright.data import read_data
    from tagwright.errors import SettingsError

    if report and report.exists() and not overwrite:
        raise SettingsError(f"{report} exists; choose another name or use --overwrite")

    columns = {"text": text, "labels": labels, "task": task, "separator": separator}
    found = audit(read_data(data, strict=bool(strict), **columns))  # type: ignore[arg-type]
    content = found.as_dict()
    if report:
        from tagwright.reports import check_report
        from tagwright.storage.files import write_text

        report.parent.mkdir(parents=True, exist_ok=True)
        write_text(report, check_report(content))
    if json:
        _show.emit(content)
        return
    from tagwright.cli._audit import show_audit

    show_audit(content)
    if report:
        _show.say(f"report: {report}")
