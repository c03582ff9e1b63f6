"""Scoring a model on labelled data, in chunks, so that no set is too large."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np
import pyarrow as pa

from tagwright.arrays import Ints
from tagwright.data import Data
from tagwright.data.find_columns import whole as one_piece
from tagwright.data.slices import bounds, row_bytes
from tagwright.inference.data_for_model import (
    has_answers,
    known_rows,
    labelled_rows,
)
from tagwright.inference.fit_decision import measured
from tagwright.inference.model import Model, Scores
from tagwright.inference.spans import given_tokens, token_scores
from tagwright.inference.tagged_tokens import flat, tags_of, truth_of_tags
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.space import LabelSpace
from tagwright.labels.tags import scheme_of
from tagwright.metrics import Measures

CHUNK, CHUNK_BYTES = 8192, 1 << 24  # rows and bytes of their texts


class ScoredJson(TypedDict, total=False):
    """What was measured, as JSON; `tokens` of tagged ones, and `heads` where there are several."""

    metrics: dict[str, float]
    heads: dict[str, dict[str, float]]
    left_out: list[str]
    split: str
    convention: str
    rows: int
    unlabelled: int
    tokens: int
    unknown: int
    unseen: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What was measured on which rows, and on how many of their tokens where these are tagged.

    `unseen` are labels that the model does not know, with their counts.

    `unlabelled` rows are left out; so are those `unknown`, whose one label the model does not know.
    """

    measures: Measures
    split: str
    rows: int
    unlabelled: int
    unknown: int
    unseen: dict[str, int]
    label_names: tuple[str, ...]
    label_counts: tuple[int, ...]
    tokens: int | None = None
    # of a model with several: those with answers here
    heads: Mapping[str, "Scored"] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # its heads that have none

    def as_dict(self, *, convention: str = "sklearn") -> ScoredJson:
        """Ready for JSON."""
        results = self.measures.results(
            convention=convention,  # type: ignore[arg-type]
            label_counts=self.label_counts,
        )
        found: ScoredJson = {"metrics": results}
        if self.heads:
            found["heads"] = {
                name: head.as_dict(convention=convention)["metrics"]
                for name, head in self.heads.items()
            }
            found["left_out"] = list(self.left_out)
        found |= {
            "split": self.split,
            "convention": convention,
            "rows": self.rows,
            "unlabelled": self.unlabelled,
        }
        if self.tokens is not None:
            found["tokens"] = self.tokens
        return {**found, "unknown": self.unknown, "unseen": self.unseen}


def score(
    model: Model, data: Data, *, split: str | None = None, unseen_labels: str = "drop"
) -> Scored:
    """Every metric of the model on a split: test where there is one, else dev, else all rows.

    `unseen_labels="miss"` counts labels that the model does not know as misses instead of leaving
    them out. Left out, a text of a one-label model loses its only one, and goes with it.
    """
    if len(model.heads) > 1 and data.heads:
        names = [
            name
            for name in model.heads
            if name in data.heads and has_answers(data.alone(name), split)
        ]
        found = {
            name: score(model.alone(name), data, split=split, unseen_labels=unseen_labels)
            for name in names
        }
        if found:
            gone = tuple(name for name in model.heads if name not in found)
            return replace(found[names[0]], heads=found, left_out=gone)
    model = model.alone(next((name for name in model.heads if name in data.heads), model.first))
    data = data.alone(model.first) if model.first in data.heads else data
    tagged = model.tags_tokens
    name, labelled = labelled_rows(data, split, "tags" if tagged else "labels")
    space = model.primary.space
    strange = _unseen_tags(space, labelled) if tagged else space.encode(labelled["labels"]).unseen
    known = np.arange(labelled.num_rows) if tagged else known_rows(space, labelled, data.source)
    missed = _of_scheme(space, strange) if tagged else strange
    extra = tuple(sorted(missed)) if unseen_labels == "miss" else ()
    rows = np.arange(labelled.num_rows) if extra else known
    parts = list((_measured_tokens if tagged else _measured)(model, labelled, rows, extra))
    return Scored(
        measures=sum(parts[1:], start=parts[0]),
        split=name,
        rows=len(rows),
        unknown=labelled.num_rows - len(rows),
        unlabelled=data.tables[name].num_rows - labelled.num_rows,
        unseen=strange,
        label_names=space.names + extra,
        label_counts=space.counts + (0,) * len(extra),
        tokens=len(flat(labelled["tokens"])) if tagged else None,
    )


def _of_scheme(space: LabelSpace, tags: Iterable[str]) -> list[str]:
    """Those tags beside which the model's own still mean what they did; the others count as
    outside.
    """
    kind = scheme_of(space.names).kind
    return [tag for tag in tags if scheme_of((*space.names, tag)).kind == kind]


def _unseen_tags(space: LabelSpace, table: pa.Table) -> dict[str, int]:
    return tags_of(table, space)[1]


def _chunks(rows: Ints, column: pa.ChunkedArray) -> Iterator[Ints]:
    """Row numbers in chunks of bounded size; `column` has most of the bytes of a row."""
    for start, stop in bounds(row_bytes(column)[rows], rows=CHUNK, size=CHUNK_BYTES):
        yield rows[start:stop]


def _measured_tokens(
    model: Model, table: pa.Table, rows: Ints, extra: tuple[str, ...]
) -> Iterator[Measures]:
    """Tokens as rows. A tag that the model does not know counts as outside, or as one that it never
    chooses.
    """
    space = model.primary.space
    whole = replace(space, names=space.names + extra, counts=space.counts + (0,) * len(extra))
    first = 0  # token, counted over all texts
    for chunk in _chunks(rows, table["tokens"]):
        part = table.take(chunk)
        tags, offsets = tags_of(part, whole)[0], offsets_of(one_piece(part["tokens"]))
        scores = token_scores(model, flat(part["tokens"]), offsets)
        scores = _widened(scores, len(extra))
        truth, numbers = truth_of_tags(tags, len(whole)), np.arange(first, first + len(tags))
        first += len(tags)
        yield measured(scores, truth, offsets=offsets, tags=whole.names, rows=numbers)


def _measured(
    model: Model, table: pa.Table, rows: Ints, extra: tuple[str, ...]
) -> Iterator[Measures]:
    space = model.primary.space
    whole = type(space)(
        names=space.names + extra,
        counts=space.counts + (0,) * len(extra),
        exclusive=space.exclusive,
    )
    for chunk in _chunks(rows, table["text"]):
        part = table.take(chunk)
        tokens = (
            given_tokens(part["tokens"])[1]
            if model.cuts_texts and "tokens" in part.column_names
            else None
        )
        scores = model.scores(part["text"], tokens=tokens)
        truth = whole.encode(part["labels"]).matrix(len(whole)) > 0
        if isinstance(scores, Scores):
            truth, scores = truth.toarray(), _widened(scores, len(extra))
        yield measured(scores, truth, rows=chunk)


def _widened(scores: Scores, extra: int) -> Scores:
    """With labels that the model does not know: no probability, never chosen."""
    wider = ((0, 0), (0, extra))
    return Scores(
        np.pad(scores.logits, wider),
        np.pad(scores.probabilities, wider),
        np.pad(scores.chosen, wider),
    )
