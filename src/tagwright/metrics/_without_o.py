"""Tokens without O: micro and macro precision, recall, F1 and F2 of all tags but the one that says
nothing.

Most tokens are outside of any span, and a tagger that says so everywhere would score high by them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tagwright.arrays import Bools, Floats, Ints, Strings
from tagwright.errors import ShapeError
from tagwright.metrics._agreement import MEASURES, agreement
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, is_paper, mean, merge
from tagwright.metrics.counts import Counts

_AVERAGES = {"micro": "of all tags but O together", "macro": "mean over all tags but O"}


@dataclass(frozen=True, eq=False, kw_only=True)
class WithoutO:
    """The counts of every tag and the tags' names; adding states adds the counts.

    scikit-learn: `f1_score(..., labels=all but O)`. A tag that is neither true nor chosen counts as
    in `Counts`. Where no tag is called O, all take part; where O is the only one, the means are
    NaN.
    """

    METRICS: ClassVar[Descriptions] = {
        f"{average}_{m}_without_o": (f"{m.capitalize()} of tokens, {text}", True)
        for average, text in _AVERAGES.items()
        for m in MEASURES
    }
    FACTS: ClassVar[dict[str, str]] = {}

    names: tuple[str, ...]
    counts: Counts

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools, *, names: Sequence[str]) -> "WithoutO":
        """Count tokens: scores (N, L), truth (N, L) bool, chosen (N, L) bool, of the tags
        `names`.
        """
        return cls(names=tuple(names), counts=Counts.of(scores, truth, chosen))

    def __add__(self, other: "WithoutO") -> "WithoutO":
        merged = merge(self, other)
        if self.names != other.names:
            raise ShapeError(
                f"only counts of the same tags add up, got {self.names} and {other.names}"
            )
        return replace(merged, names=self.names)  # of names there is one list, not a sum

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """The metrics of `METRICS`."""
        empty = float(is_paper(convention))
        inside = np.array([name != "O" for name in self.names])
        parts = [part[inside] for part in (self.counts.hits, self.counts.wrong, self.counts.missed)]
        micro, each = (
            agreement(*[part.sum() for part in parts], empty=empty),
            agreement(*parts, empty=empty),
        )
        results = {f"micro_{name}_without_o": float(micro[name]) for name in MEASURES}
        return results | {
            f"macro_{name}_without_o": mean(each[name].sum(), len(each[name])) for name in MEASURES
        }

    def amounts(self) -> dict[str, Strings | Ints]:
        """Arrays (L,): the tags' names, O among them, how many tokens are predicted so, how many
        are truly so.
        """
        counts = self.counts.per_label()
        return {
            "name": np.array(self.names, str),
            "predicted": counts["predicted"],
            "true": counts["support"],
        }
