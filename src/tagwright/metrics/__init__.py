"""Metrics: scores, truth and choices in, named numbers out. One file, one family.

States add, so the numbers are the same however the rows were batched or spread.

>>> import numpy as np
>>> scores = np.array([[0.9, 0.2], [0.6, 0.7]])
>>> truth = np.array([[True, False], [True, True]])
>>> chosen = scores > 0.65
    >>> first = measure(scores[:1], truth[:1], chosen[:1])
    >>> measures = first + measure(scores[1:], truth[1:], chosen[1:])
>>> measures.results()["micro_f1"]
0.8
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

from tagwright import registry
from tagwright.arrays import Bools, Floats, Ints
from tagwright.errors import SettingsError, ShapeError, unknown
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts, check, is_paper, merge
from tagwright.metrics._entities import Entities
from tagwright.metrics._family import Family, State
from tagwright.metrics._without_o import WithoutO
from tagwright.registry import Kind

if TYPE_CHECKING:
    from tagwright.metrics.calibration import CalibrationErrors
    from tagwright.metrics.confusion import Confusion
    from tagwright.metrics.counts import Counts

__all__ = [
    "KIND",
    "OF_TAGS",
    "Convention",
    "Family",
    "Measures",
    "States",
    "check",
    "descriptions",
    "facts",
    "families",
    "measure",
    "merge",
    "metric",
    "shown_first",
    "title_of",
]


KIND = Kind(title="family of metrics", facts=None, base=Family)
# states that also want the names of tags and where texts begin: `_tokens.measure_tokens` makes them
OF_TAGS: dict[str, type[Entities] | type[WithoutO]] = {"entities": Entities, "without_o": WithoutO}


def families() -> dict[str, type[Family]]:
    """All families by name, those of other packages among them; one that is broken is passed
    over.
    """
    return {part.name: part.factory for part in registry.usable(registry.METRICS)}


def descriptions() -> Descriptions:
    """Every metric: one line, and whether higher is better. Two families with one name for a metric
    are an error.
    """
    found: Descriptions = {}
    owners: dict[str, str] = {}
    for stem, family in {**OF_TAGS, **families()}.items():
        for name in family.METRICS:
            if owners.setdefault(name, stem) != stem:
                raise SettingsError(
                    f"the families of metrics {owners[name]} and {stem} both have {name}; uninstall"
                    " the package of one"
                )
        found |= family.METRICS
    return found


def facts() -> dict[str, str]:
    """Every number that is neither better nor worse, with its description."""
    return {name: said for family in families().values() for name, said in family.FACTS.items()}


def title_of(name: str) -> str | None:
    """What people call a metric, where its family says so."""
    return next(
        (family.TITLES[name] for family in families().values() if name in family.TITLES), None
    )


def shown_first() -> tuple[str, ...]:
    """Metrics that families want to be shown beside the usual ones."""
    return tuple(name for family in families().values() for name in family.FIRST)


# cells at a time: the temporary arrays of a block stay in the cache, whatever the size of the set
_BLOCK = 1 << 18


class States(dict[str, State]):
    """States of the families by file name; the type checker knows some by their names."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, name: Literal["calibration"]) -> CalibrationErrors: ...
        @overload
        def __getitem__(self, name: Literal["confusion"]) -> Confusion: ...
        @overload
        def __getitem__(self, name: Literal["counts"]) -> Counts: ...
        @overload
        def __getitem__(self, name: Literal["entities"]) -> Entities: ...
        @overload
        def __getitem__(self, name: Literal["without_o"]) -> WithoutO: ...
        @overload
        def __getitem__(self, name: str) -> State: ...
        def __getitem__(self, name: str) -> State:
            """The state of a family."""
            return self[name]


@dataclass(frozen=True, eq=False, kw_only=True)
class Measures:
    """States of the families by file name, of rows with `label_count` labels. `+` merges those of
    different rows.
    """

    label_count: int
    states: States

    def __add__(self, other: "Measures") -> "Measures":
        mine, theirs = (self.label_count, set(self.states)), (other.label_count, set(other.states))
        if mine != theirs:
            raise ShapeError(
                f"only measures of the same labels and families add up, got {mine} and {theirs}"
            )
        states = States({name: state + other.states[name] for name, state in self.states.items()})
        return Measures(label_count=self.label_count, states=states)

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """All metrics and facts that apply, by name.

        `label_counts` (L,), from train, brings the frequency bands. Not there: `accuracy` unless
        every row has one true and one chosen label, calibration unless all scores are
        probabilities.
        """
        is_paper(convention)  # an unknown one is refused here, also where no family depends on it
        found = [
            state.results(convention=convention, label_counts=label_counts)
            for state in self.states.values()
        ]
        return {name: value for results in found for name, value in results.items()}


def measure(
    scores: Floats,
    truth: Bools,
    chosen: Bools,
    *,
    rows: Ints | None = None,
    names: Iterable[str] | None = None,
) -> Measures:
    """Measure rows: scores (n, L) float, truth (n, L) bool, chosen (n, L) bool.

    `rows` (n,) are the rows' indices, for examples of confused pairs. `names` limits the work to
    the families of these metrics; an unknown name is an error. No rows: a state to add to, whose
    means are NaN.
    """
    check(scores, truth, chosen)
    known = families()
    wanted = known if names is None else {_family(name): known[_family(name)] for name in names}
    step = max(1, _BLOCK // scores.shape[1])
    blocks = [slice(start, start + step) for start in range(0, max(1, len(scores)), step)]
    states = States()
    for name, family in wanted.items():
        given = [{"rows": rows[b]} if family.ROWS and rows is not None else {} for b in blocks]
        made = [family.of(scores[b], truth[b], chosen[b], **own) for b, own in zip(blocks, given)]
        states[name] = sum(made[1:], start=made[0])
    return Measures(label_count=scores.shape[1], states=states)


def metric(name: str) -> tuple[str, bool]:
    """One line about a metric and whether higher is better; an unknown name is an error that says
    the nearest.
    """
    known = descriptions()
    if name not in known:
        raise SettingsError(unknown("metric", name, known))
    return known[name]


def _family(name: str) -> str:
    metric(name)
    if any(name in family.METRICS for family in OF_TAGS.values()):
        raise SettingsError(
            f"{name} is a metric of tagged tokens; for labels of texts take one such as micro_f1"
        )
    return next(stem for stem, family in families().items() if name in family.METRICS)
