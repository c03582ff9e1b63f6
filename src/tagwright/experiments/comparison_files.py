"""The files of a comparison: its ledger, summary and report."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tagwright.analysis.run_facts import can_report
from tagwright.errors import ModelError
from tagwright.experiments.attempts import Attempts
from tagwright.reports import CompareFacts, compare_report
from tagwright.storage.files import json_ready, write_json, write_text
from tagwright.storage.folder import require_ours
from tagwright.storage.lock import LOCK, holds_files

LEDGER, SUMMARY, REPORT, PAGES = "runs.jsonl", "results.json", "report.html", "runs"
MARKS = (LEDGER, SUMMARY, LOCK)  # what tells a folder for a comparison
# of the report alone
HEAVY = (
    "gains",
    "curves",
    "reliability",
    "exchanges",
    "flips",
    "bands",
    "settings",
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every run and what they say together; differences are objective minus baseline, paired by
    seed.
    """

    facts: CompareFacts
    failed: int
    report: Path | None

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        facts = {key: value for key, value in asdict(self.facts).items() if key not in HEAVY}
        return {
            **facts,
            "failed": self.failed,
            "report": None if self.report is None else str(self.report),
        }


def pages_folder(out: Path) -> Path | None:
    """Where the reports of single runs go; None where none can be made."""
    return out / PAGES if can_report() else None


def require_free_place(out: Path, *, may_stand: bool) -> None:
    """Refuse a folder of others, and a comparison unless it `may_stand`."""
    require_ours(out, MARKS, "comparison")
    if holds_files(out) and not may_stand:
        raise ModelError(f"{out} exists; go on with --resume, or start over with --overwrite")


def clear(out: Path) -> None:
    """Remove what an earlier comparison wrote, and nothing else."""
    for name in (LEDGER, SUMMARY, REPORT):
        (out / name).unlink(missing_ok=True)
    for name in (PAGES, "teachers"):
        shutil.rmtree(out / name, ignore_errors=True)


def write(facts: CompareFacts, failed: int, out: Path, say: Callable[[str], None]) -> Path | None:
    """Write the summary, then the report; if the report fails, the summary stands."""
    content = Comparison(facts=facts, failed=failed, report=None).as_dict()
    write_json(out / SUMMARY, json_ready(content))
    if not can_report():
        return None
    (out / REPORT).unlink(missing_ok=True)  # of an earlier comparison in this folder
    page = Attempts(say).of("the report", lambda: compare_report(facts), None)
    if page is None:
        return None
    write_text(out / REPORT, page)
    return out / REPORT
