"""Scoring a model on labelled data, in chunks, so that no set is too large."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tagwright.errors import DataError
from tagwright.metrics import Convention, Measures, measure
from tagwright.model import Model
from tagwright.read import Data

CHUNK = 8192


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What was measured on which rows; `unseen` are labels that the model does not know, with their counts."""

    measures: Measures
    split: str
    rows: int
    unlabelled: int
    unseen: dict[str, int]
    label_names: tuple[str, ...]
    label_counts: tuple[int, ...]

    def as_dict(self, *, convention: Convention = "sklearn") -> dict[str, Any]:
        """Ready for JSON."""
        results = self.measures.results(convention=convention, label_counts=self.label_counts)
        facts = {"split": self.split, "convention": convention, "rows": self.rows, "unlabelled": self.unlabelled}
        return {"metrics": results, **facts, "unseen": self.unseen}


def score(model: Model, data: Data, *, split: str | None = None, unseen: str = "drop") -> Scored:
    """Every metric of the model on a split: test where there is one, else dev, else all rows.

    `unseen="miss"` counts labels that the model does not know as misses instead of leaving them out.
    """
    name = split or next(n for n in ("test", "dev", "all", "train") if n in data.tables)
    if name not in data.tables:
        raise DataError(f"{data.source} has no split {name!r}; it has {', '.join(data.tables)}")
    table = data.tables[name]
    labelled = table.filter(pa.compute.is_valid(table["labels"]))
    if not labelled.num_rows:
        raise DataError(f"{data.source}: no row of {name} carries a label, so there is nothing to score by")
    space = model.heads["main"].space
    strange = space.encode(labelled["labels"]).unseen
    extra = tuple(sorted(strange)) if unseen == "miss" else ()
    parts = list(_measured(model, labelled, extra))
    return Scored(
        measures=sum(parts[1:], start=parts[0]),
        split=name,
        rows=labelled.num_rows,
        unlabelled=table.num_rows - labelled.num_rows,
        unseen=strange,
        label_names=space.names + extra,
        label_counts=space.counts + (0,) * len(extra),
    )


def _measured(model: Model, table: pa.Table, extra: tuple[str, ...]) -> Iterator[Measures]:
    space = model.heads["main"].space
    whole = type(space)(names=space.names + extra, counts=space.counts + (0,) * len(extra), exclusive=space.exclusive)
    for start in range(0, table.num_rows, CHUNK):
        part = table.slice(start, CHUNK)
        scores = model.scores(part["text"])
        truth = whole.encode(part["labels"]).matrix(len(whole)).toarray() > 0
        wider = ((0, 0), (0, len(extra)))  # a label that the model does not know has no probability and is never chosen
        values, chosen = np.pad(scores.probabilities, wider), np.pad(scores.chosen, wider)
        yield measure(values, truth, chosen, rows=np.arange(start, start + part.num_rows))
