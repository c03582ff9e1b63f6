"""Scoring a model on labelled data, in chunks, so that no set is too large."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright import bundle
from tagwright.errors import DataError, SettingsError, unknown
from tagwright.metrics import Measures, measure
from tagwright.model import Model
from tagwright.read import Data, read_data

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

    def as_dict(self, *, convention: str = "sklearn") -> dict[str, Any]:
        """Ready for JSON."""
        results = self.measures.results(
            convention=convention,  # type: ignore[arg-type]
            label_counts=self.label_counts,
        )
        facts = {"split": self.split, "convention": convention, "rows": self.rows, "unlabelled": self.unlabelled}
        return {"metrics": results, **facts, "unseen": self.unseen}


def score(model: Model, data: Data, *, split: str | None = None, unseen_labels: str = "drop") -> Scored:
    """Every metric of the model on a split: test where there is one, else dev, else all rows.

    `unseen_labels="miss"` counts labels that the model does not know as misses instead of leaving them out.
    """
    name, labelled = labelled_rows(data, split)
    space = model.heads["main"].space
    strange = space.encode(labelled["labels"]).unseen
    extra = tuple(sorted(strange)) if unseen_labels == "miss" else ()
    parts = list(_measured(model, labelled, extra))
    return Scored(
        measures=sum(parts[1:], start=parts[0]),
        split=name,
        rows=labelled.num_rows,
        unlabelled=data.tables[name].num_rows - labelled.num_rows,
        unseen=strange,
        label_names=space.names + extra,
        label_counts=space.counts + (0,) * len(extra),
    )


def labelled_rows(data: Data, split: str | None) -> tuple[str, pa.Table]:
    """The name and the labelled rows of a split: test where there is one, else dev, else all."""
    name = split or next(n for n in ("test", "dev", "all", "train") if n in data.tables)
    if name not in data.tables:
        raise DataError(f"{data.source} has no split {name!r}; it has {', '.join(data.tables)}")
    labelled = data.tables[name].filter(pc.is_valid(data.tables[name]["labels"]))
    if not labelled.num_rows:
        raise DataError(f"{data.source}: no row of {name} carries a label, so there is nothing to score by")
    return name, labelled


def score_folder(
    folder: Path, source: str, *, split: str | None, unseen: str, convention: str, **columns: Any
) -> Scored:
    """Load a model, read the data, score."""
    for value, choices in ((unseen, ("drop", "miss")), (convention, ("sklearn", "paper"))):
        if value not in choices:
            raise SettingsError(unknown("choice", value, choices))
    model = bundle.load(folder)
    return score(model, read_data(source, **read_options(model, columns)), split=split, unseen_labels=unseen)


def read_options(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """How to read data for a model: as its own were read, but for what is given."""
    own = model.settings.data
    chosen = {k: v for k, v in given.items() if v is not None and (k, v) != ("separator", "auto")}
    return {"text": own.text, "labels": own.labels, "separator": own.separator, "task": own.task, **chosen}


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
