"""What every family of metrics is."""

from collections.abc import Mapping
from typing import ClassVar, Protocol, Self

from tagwright.arrays import Bools, Floats
from tagwright.metrics._chunk import Convention, Descriptions, LabelCounts


class State(Protocol):
    """The additive state of a family: its rows' sums, and the numbers that they give."""

    def __add__(self, other: Self, /) -> Self:
        """The state of the rows of both."""

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """Metrics and facts by name, those that apply."""


class Family:
    """What every family derives from: a frozen dataclass, the additive state of some metrics.

    States of different rows add up to that of all rows, whatever the batches were.
    """

    METRICS: ClassVar[Descriptions]  # name: (one line, whether higher is better)
    # name: description of a number that is neither better nor worse
    FACTS: ClassVar[dict[str, str]] = {}
    ROWS: ClassVar[bool] = False  # `of` also takes `rows` (n,), the rows' indices
    # names for people, where a metric's own with blanks will not do
    TITLES: ClassVar[Mapping[str, str]] = {}
    FIRST: ClassVar[tuple[str, ...]] = ()  # metrics that a summary shows beside the usual ones

    @classmethod
    def of(cls, scores: Floats, truth: Bools, chosen: Bools) -> Self:
        """The state of one chunk of rows, each (n, L): scores float, truth and chosen bool. There
        may be no rows.
        """
        raise NotImplementedError

    def __add__(self, other: Self) -> Self:
        """The state of the rows of both."""
        raise NotImplementedError

    def results(
        self, *, convention: Convention = "sklearn", label_counts: LabelCounts | None = None
    ) -> dict[str, float]:
        """Metrics and facts by name, those that apply; no other names than in METRICS and FACTS."""
        raise NotImplementedError
