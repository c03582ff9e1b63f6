"""The figures of a model that tags tokens, by what they count: whole spans, tokens inside of spans,
all tokens.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tagwright.labels.tags import scheme_of, tells_spans

MEASURES = {"f1": "F1", "f2": "F2", "precision": "precision", "recall": "recall"}
_SPANS = {
    "whole spans, all together": "entity_{}",
    "whole spans, mean over types": "entity_macro_{}",
}
_INSIDE = {
    "tokens but O, all together": "micro_{}_without_o",
    "tokens but O, mean over tags": "macro_{}_without_o",
}
_ALL = {"all tokens together": "micro_{}", "all tokens, mean over tags": "macro_{}"}


class Figures(NamedTuple):
    """What is counted, and its F1, F2, precision and recall."""

    counted: str
    values: tuple[float, ...]


def figures_of_tags(metrics: Mapping[str, float], tags: Sequence[str]) -> list[Figures]:
    """What matters most first; only what the tags can tell and the metrics have.

    >>> figures_of_tags({f"micro_{name}": 0.5 for name in MEASURES}, ["NOUN", "VERB"])
    [Figures(counted='all tokens together', values=(0.5, 0.5, 0.5, 0.5))]
    """
    wanted = (
        (_SPANS if tells_spans(scheme_of(tags)) else {}) | (_INSIDE if "O" in tags else {}) | _ALL
    )
    return [
        Figures(counted, tuple(metrics[name.format(measure)] for measure in MEASURES))
        for counted, name in wanted.items()
        if all(name.format(measure) in metrics for measure in MEASURES)
    ]
