"""What a person should know about labelled texts before training: counts, long tail, leaks, look-alike labels."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array, triu

from tagwright.labels.groups import groups_from_names
from tagwright.labels.space import LabelSpace
from tagwright.read._alike import alike
from tagwright.read._copies import Conflicts, Copies, Leak, conflicts, copies, leaks
from tagwright.read.data import Data, Task

RARE = 10  # a label with fewer examples belongs to the tail
SHOWN = 20  # pairs of each kind that are kept
QUANTILES = {"least": 0.0, "tenth": 0.1, "median": 0.5, "ninetieth": 0.9, "most": 1.0}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One split. Cardinality is the mean number of labels of a labelled row, density its share of all labels."""

    name: str
    rows: int
    unlabelled: int
    empty_texts: int
    characters: dict[str, int]  # quantiles of text length: least, tenth, median, ninetieth, most
    words: dict[str, int]
    cardinality: float
    density: float
    without_label: float  # share of the labelled rows whose list is empty


@dataclass(frozen=True, kw_only=True)
class LabelCount:
    """Rows of every split that carry the label."""

    name: str
    rows: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Tail:
    """How uneven the labels of train are: gini 0 is even, towards 1 a few labels have nearly all rows."""

    rare: int  # labels with fewer than 10 rows in train, those with none aside
    rare_share: float
    gini: float
    head: int  # so many of the most common labels hold half of all label marks


@dataclass(frozen=True, kw_only=True)
class Together:
    """Two labels that stand on the same rows `lift` times as often as chance would have it."""

    left: str
    right: str
    rows: int
    lift: float


@dataclass(frozen=True, kw_only=True)
class LookAlike:
    """Two labels with similar texts; `together` is the share of the rarer label's rows that carry both."""

    left: str
    right: str
    similarity: float
    together: float
    left_text: str
    right_text: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """All that `audit` found; label statistics are of the table to learn from."""

    source: str
    task: Task
    parts: tuple[Part, ...]
    labels: tuple[LabelCount, ...]  # most common in train first
    tail: Tail
    together: tuple[Together, ...]
    copies: tuple[Copies, ...]
    leaks: tuple[Leak, ...]
    conflicts: Conflicts
    unseen: dict[str, dict[str, int]]  # split -> label that train lacks -> rows
    look_alikes: tuple[LookAlike, ...]
    separator: str | None
    groups: dict[str, list[str]]
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Plain dictionaries, lists, numbers and strings, ready for JSON."""
        return asdict(self)
