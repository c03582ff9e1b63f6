"""The pages of a run: its reports, one per head, and the model card."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from tagwright.analysis.run_facts import card_facts, fit_facts, other_facts
from tagwright.reports import fit_report
from tagwright.reports.facts import CardFacts
from tagwright.training.decided import Fitted
from tagwright.training.prepared import Prepared
from tagwright.training.run_folder import REPORT, write_pages


def write_report(prepared: Prepared, fitted: Fitted, folder: Path) -> Path | None:
    """The HTML report of a run, one for each head; None where the plotting libraries are
    missing.
    """
    return write_pages(folder, report_pages(prepared, fitted))


def report_pages(prepared: Prepared, fitted: Fitted) -> dict[str, str]:
    """The HTML reports by the names of their files."""
    if not can_report():
        return {}
    names = {
        name: REPORT if name == prepared.first else f"report-{name}.html" for name in fitted.heads
    }
    return {
        path: fit_report(fit_facts(prepared.answered(name), fitted.alone(name)))
        for name, path in names.items()
    }


def card_of(prepared: Prepared, fitted: Fitted) -> CardFacts:
    """The card of a model: that of its first head, with the others in short."""
    first, *others = fitted.heads
    facts = card_facts(prepared.answered(first), fitted.alone(first))
    return replace(
        facts, name=first, others=[other_facts(name, fitted.heads[name].head) for name in others]
    )


def can_report() -> bool:
    """Whether the plotting libraries are installed; training does without."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert", "jinja2"))
