"""One self-contained HTML page per run, and the model card. Altair, vl-convert and jinja2 load on the first page."""

from tagwright.report.card import model_card
from tagwright.report.check import check_report
from tagwright.report.compare import compare_report
from tagwright.report.facts import CardFacts, CompareFacts, FitFacts
from tagwright.report.fit import fit_report

__all__ = ["CardFacts", "CompareFacts", "FitFacts", "check_report", "compare_report", "fit_report", "model_card"]
