"""One self-contained HTML page per run, and the model card. Altair, vl-convert and jinja2 load on
the first page.
"""

from tagwright.reports.attention import attention_report
from tagwright.reports.card import model_card
from tagwright.reports.check import check_report
from tagwright.reports.compare import compare_report
from tagwright.reports.compare_facts import CompareFacts
from tagwright.reports.facts import AttentionFacts, CardFacts, FitFacts
from tagwright.reports.fit import fit_report

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
