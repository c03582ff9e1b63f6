"""`check`: labelled data to counts, warnings and a page."""

from pathlib import Path

from tagwright.analysis.audit import Audit, audit
from tagwright.data import Task, read_data
from tagwright.errors import SettingsError
from tagwright.reports import check_report
from tagwright.storage.files import write_text


def check_source(
    source: str,
    *,
    text: str | None = None,
    labels: str | None = None,
    task: Task | None = None,
    separator: str = "auto",
    strict: bool = False,
    report: Path | None = None,
    overwrite: bool = False,
) -> Audit:
    """Read the data, look for what would mislead training, and write the page if one is named."""
    if report and report.exists() and not overwrite:
        raise SettingsError(f"{report} exists; choose another name or use --overwrite")
    data = read_data(
        source, text=text, labels=labels, task=task, separator=separator, strict=strict
    )
    found = audit(data)
    if report:
        report.parent.mkdir(parents=True, exist_ok=True)
        write_text(report, check_report(found.as_dict()))
    return found
