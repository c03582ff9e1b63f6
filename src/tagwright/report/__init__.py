"""One self-contained HTML page per run, and the model card. Altair, vl-convert and jinja2 load on the first page."""

from tagwright.report.attention import attention_report
from tagwright.report.card import model_card
from tagwright.report.check import check_report
from tagwright.report.compare import compare_report
from tagwright.report.compare_facts import CompareFacts
from tagwright.report.facts import AttentionFacts, CardFacts, FitFacts
from tagwright.report.fit import fit_report

__all__ = [
    "AttentionFacts",
    "CardFacts",
    "CompareFacts",
    "FitFacts",
    "attention_report",
    "check_report",
    "compare_report",
    "fit_report",
    "model_card",
]
