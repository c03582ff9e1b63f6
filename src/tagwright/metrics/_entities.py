"""Entities: whole spans of tags that are right, by type; precision, recall, F1 and F2 as seqeval
has them.

A span is a hit where another of the same text, first token, last token and type is true. Broken
tags are read as conlleval and seqeval read them (`labels.tags.spans_of`); plain tags are spans
where they run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tagwright.arrays import Ints, Strings
from tagwright.errors import ShapeError
from tagwright.labels.tags import scheme_of, spans_of
from tagwright.metrics._agreement import MEASURES, Scores, agreement, scores_of
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, is_paper, merge


@dataclass(frozen=True, eq=False, kw_only=True)
class Entities:
    """Counts of spans of every type, (types,) int64; adding states adds the counts.

    Macro metrics are means over the types that are true or chosen somewhere, as seqeval's. No spans
    at all: 0, and 1 by the convention "paper".
    """

    METRICS: ClassVar[Descriptions] = {
        **{
            f"entity_{m}": (f"{m.capitalize()} of whole spans, all together", True)
            for m in MEASURES
        },
        **{
            f"entity_macro_{m}": (f"{m.capitalize()} of whole spans, mean over types", True)
            for m in MEASURES
        },
    }
    FACTS: ClassVar[dict[str, str]] = {}

    types: tuple[str, ...]
    hits: Ints  # true and chosen
    wrong: Ints  # chosen, not true
    missed: Ints  # true, not chosen

    @classmethod
    def of(cls, truth: Ints, chosen: Ints, *, offsets: Ints, names: Sequence[str]) -> "Entities":
        """Count whole texts: ids of the true and the chosen tags (N,), -1 for none; text i begins
        at offsets[i].
        """
        scheme = scheme_of(names)
        true, picked = spans_of(truth, offsets, scheme), spans_of(chosen, offsets, scheme)
        # at most one span begins at a token, so a span meets at most one other
        end, kind = np.zeros((2, len(truth)), np.int64)
        first = offsets[true.row] + true.start
        end[first], kind[first] = true.end, true.type + 1
        first = offsets[picked.row] + picked.start
        right = (end[first] == picked.end) & (kind[first] == picked.type + 1)
        count = len(scheme.types)
        hits = np.bincount(picked.type[right], minlength=count)
        wrong = np.bincount(picked.type, minlength=count) - hits
        missed = np.bincount(true.type, minlength=count) - hits
        return cls(types=scheme.types, hits=hits, wrong=wrong, missed=missed)

    def __add__(self, other: "Entities") -> "Entities":
        merged = merge(self, other)
        if self.types != other.types:
            raise ShapeError(
                f"only entities of the same types add up, got {self.types} and {other.types}"
            )
        return replace(merged, types=self.types)  # of names there is one list, not a sum

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS`."""
        empty = float(is_paper(convention))
        parts = (self.hits, self.wrong, self.missed)
        micro = agreement(*[np.sum(part) for part in parts], empty=empty)
        seen = self.hits + self.wrong + self.missed > 0
        each = agreement(*[part[seen] for part in parts], empty=empty)
        results = {f"entity_{name}": float(micro[name]) for name in MEASURES}
        macro = {name: float(each[name].mean()) if seen.any() else empty for name in MEASURES}
        return results | {f"entity_macro_{name}": value for name, value in macro.items()}

    def per_type(self) -> Scores:
        """Arrays (types,): precision, recall, f1, f2, support (true spans), predicted (chosen
        spans).
        """
        return scores_of(self.hits, self.wrong, self.missed, empty=0.0)

    def amounts(self) -> dict[str, Strings | Ints]:
        """Arrays (types,): the types' names, how many spans are predicted, how many are true."""
        return {
            "name": np.array(self.types, str),
            "predicted": self.hits + self.wrong,
            "true": self.hits + self.missed,
        }
