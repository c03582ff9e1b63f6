"""Metrics: scores, truth and choices in, named numbers out. One file, one family.

States add, so the numbers are the same however the rows were batched or spread.

>>> import numpy as np
>>> scores = np.array([[0.9, 0.2], [0.6, 0.7]])
>>> truth = np.array([[True, False], [True, True]])
>>> measures = measure(scores[:1], truth[:1], scores[:1] > 0.65) + measure(scores[1:], truth[1:], scores[1:] > 0.65)
>>> measures.results()["micro_f1"]
0.8
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol

import numpy as np

from tagwright.errors import SettingsError, ShapeError, unknown
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, check, is_paper
from tagwright.metrics._entities import Entities
from tagwright.metrics._without_o import WithoutO
from tagwright.parts import Kind

__all__ = ["FACTS", "FAMILIES", "KIND", "METRICS", "OF_TAGS", "Convention", "Family", "Measures", "measure", "metric"]


KIND = Kind(title="family of metrics", facts=None)


class Family(Protocol):
    """What each file of this folder names in `PART`: a frozen dataclass, the additive state of some metrics."""

    METRICS: ClassVar[Descriptions]
    FACTS: ClassVar[dict[str, str]]  # name: description of a number that is neither better nor worse

    @classmethod
    def of(cls, scores: np.ndarray, truth: np.ndarray, chosen: np.ndarray) -> Any:
        """The state of one chunk of rows, each (n, L): scores float, truth and chosen bool."""

    def __add__(self, other: Any) -> Any: ...

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """Metrics and facts by name, those that apply."""


FAMILIES: dict[str, type[Family]] = {
    found.name: import_module(f"{__name__}.{found.name}").PART
    for found in iter_modules(__path__)
    if not found.name.startswith("_")
}
# states that also want the names of tags and where texts begin: `_tokens.measure_tokens` makes them
OF_TAGS: dict[str, type[Entities] | type[WithoutO]] = {"entities": Entities, "without_o": WithoutO}
METRICS: Descriptions = {k: v for family in (*FAMILIES.values(), *OF_TAGS.values()) for k, v in family.METRICS.items()}
FACTS: dict[str, str] = {k: v for family in FAMILIES.values() for k, v in family.FACTS.items()}

_BLOCK = 1 << 18  # cells at a time: the temporary arrays of a block stay in the cache, whatever the size of the set


@dataclass(frozen=True, eq=False, kw_only=True)
class Measures:
    """States of the families by file name, of rows with `label_count` labels. `+` merges those of different rows."""

    label_count: int
    states: Mapping[str, Any]

    def __add__(self, other: "Measures") -> "Measures":
        mine, theirs = (self.label_count, set(self.states)), (other.label_count, set(other.states))
        if mine != theirs:
            raise ShapeError(f"only measures of the same labels and families add up, got {mine} and {theirs}")
        states = {name: state + other.states[name] for name, state in self.states.items()}
        return Measures(label_count=self.label_count, states=states)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """All metrics and facts that apply, by name.

        `label_counts` (L,), from train, brings the frequency bands. Not there: `accuracy` unless every row has one true
        and one chosen label, calibration unless all scores are probabilities.
        """
        is_paper(convention)  # an unknown one is refused here, also where no family depends on it
        parts = [state.results(convention=convention, label_counts=label_counts) for state in self.states.values()]
        return {name: value for part in parts for name, value in part.items()}


def measure(
    scores: np.ndarray,
    truth: np.ndarray,
    chosen: np.ndarray,
    *,
    rows: np.ndarray | None = None,
    names: Iterable[str] | None = None,
) -> Measures:
    """Measure rows: scores (n, L) float, truth (n, L) bool, chosen (n, L) bool.

    `rows` (n,) are the rows' indices, for examples of confused pairs. `names` limits the work to the families of these
    metrics; an unknown name is an error. No rows: a state to add to, whose means are NaN.
    """
    check(scores, truth, chosen)
    wanted = FAMILIES if names is None else {_family(name): FAMILIES[_family(name)] for name in names}
    step = max(1, _BLOCK // scores.shape[1])
    blocks = [slice(start, start + step) for start in range(0, max(1, len(scores)), step)]
    states = {}
    for name, family in wanted.items():
        takes_rows = rows is not None and "rows" in inspect.signature(family.of).parameters
        parts = [
            family.of(scores[b], truth[b], chosen[b], **({"rows": rows[b]} if takes_rows else {}))  # type: ignore[index]
            for b in blocks
        ]
        states[name] = sum(parts[1:], start=parts[0])
    return Measures(label_count=scores.shape[1], states=states)


def metric(name: str) -> tuple[str, bool]:
    """One line about a metric and whether higher is better; an unknown name is an error that says the nearest."""
    if name not in METRICS:
        raise SettingsError(unknown("metric", name, METRICS))
    return METRICS[name]


def _family(name: str) -> str:
    metric(name)
    if any(name in family.METRICS for family in OF_TAGS.values()):
        raise SettingsError(f"{name} is a metric of tagged tokens; for labels of texts take one such as micro_f1")
    return next(stem for stem, family in FAMILIES.items() if name in family.METRICS)
