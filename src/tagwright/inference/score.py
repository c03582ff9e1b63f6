"""Scoring a model on labelled data, in chunks, so that no set is too large."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data import Data, read_data
from tagwright.data.find_columns import MissingColumn
from tagwright.data.find_columns import whole as one_piece
from tagwright.data.slices import bounds, row_bytes
from tagwright.data.source import EMBEDDED
from tagwright.errors import DataError, SettingsError, unknown
from tagwright.inference import model_folder
from tagwright.inference.fit_decision import measured
from tagwright.inference.model import Model, Scores
from tagwright.inference.spans import given_tokens, token_scores
from tagwright.inference.tagged_tokens import flat, tags_of, truth_of_tags
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.space import LabelSpace
from tagwright.labels.tags import scheme_of
from tagwright.metrics import Measures

CHUNK, CHUNK_BYTES = 8192, 1 << 24  # rows and bytes of their texts


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

    def as_dict(self, *, convention: str = "sklearn") -> dict[str, Any]:
        """Ready for JSON."""
        results = self.measures.results(
            convention=convention,  # type: ignore[arg-type]
            label_counts=self.label_counts,
        )
        each = {
            name: head.as_dict(convention=convention)["metrics"]
            for name, head in self.heads.items()
        }
        beside = {"heads": each, "left_out": list(self.left_out)} if each else {}
        facts = {
            "split": self.split,
            "convention": convention,
            "rows": self.rows,
            "unlabelled": self.unlabelled,
        }
        facts |= {} if self.tokens is None else {"tokens": self.tokens}
        return {
            "metrics": results,
            **beside,
            **facts,
            "unknown": self.unknown,
            "unseen": self.unseen,
        }


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
            if name in data.heads and _has_answers(data.alone(name), split)
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


def labelled_rows(data: Data, split: str | None, column: str = "labels") -> tuple[str, pa.Table]:
    """The name and the labelled rows of a split: test where there is one, else dev, else all."""
    name = _split_of(data, split)
    labelled = data.tables[name].filter(pc.is_valid(data.tables[name][column]))
    if not labelled.num_rows:
        raise DataError(
            f"{data.source}: no row of {name} carries a {column[:-1]}, so there is nothing to"
            " score by"
        )
    return name, labelled


def _split_of(data: Data, split: str | None) -> str:
    """The split that is named, or else test, dev or all, whichever is there first."""
    name = split or next(n for n in ("test", "dev", "all", "train") if n in data.tables)
    if name not in data.tables:
        raise DataError(f"{data.source} has no split {name!r}; it has {', '.join(data.tables)}")
    return name


def known_rows(space: LabelSpace, table: pa.Table, source: str) -> np.ndarray:
    """Row numbers to measure: all, but where labels exclude each other those whose label is in the
    space.
    """
    found = space.encode(table["labels"])
    if found.unseen and not len(found.ids):
        raise DataError(
            f"{source}: the model knows none of its {len(found.unseen)} labels, such as"
            f" {next(iter(found.unseen))!r}; it knows"
            f" {', '.join(space.names[:5])}{', …' if len(space) > 5 else ''}; is --labels right?"
        )
    return (
        np.flatnonzero(np.diff(found.offsets) > 0) if space.exclusive else np.arange(table.num_rows)
    )


def _has_answers(data: Data, split: str | None) -> bool:
    """Whether some row of the split has labels, or tags, of a single head."""
    table, kind = data.tables[_split_of(data, split)], "tags" if data.task == "tokens" else "labels"
    return bool(table[kind].null_count < table.num_rows)


def score_folder(
    folder: Path,
    source: str,
    *,
    split: str | None,
    unseen: str,
    convention: str,
    head: str | None = None,
    device: str = "auto",
    plugins: bool = False,
    **columns: Any,
) -> Scored:
    """Load a model, read the data, score; every head whose labels are there, or the one that is
    named.
    """
    for value, choices in ((unseen, ("drop", "miss")), (convention, ("sklearn", "paper"))):
        if value not in choices:
            raise SettingsError(unknown("choice", value, choices))
    model = model_folder.load(folder, device=device, plugins=plugins).of(head)
    return score(model, read_for_model(model, source, columns), split=split, unseen_labels=unseen)


def read_for_model(model: Model, source: str, given: Mapping[str, Any]) -> Data:
    """Read data as the model's own were read, but for what is given; the embedded set knows its
    columns itself.

    Of several heads those are read whose labels are there.
    """
    own = model.inference.data
    chosen = {k: v for k, v in given.items() if v is not None and (k, v) != ("separator", "auto")}
    # all: they say where the text is
    heads = {name: dict(found) for name, found in model.inference.heads.items()}
    columns = {} if source == EMBEDDED else {"text": own.text}
    if heads:
        if "labels" in chosen:
            if len(model.heads) > 1:
                raise SettingsError(
                    f"--labels is for one head, and this model has {', '.join(heads)}; name it by"
                    " --head"
                )
            heads[model.first]["labels"] = chosen.pop("labels")
        if "separator" in chosen:
            heads = {
                name: {**found, "separator": chosen["separator"]} for name, found in heads.items()
            }
        columns |= {"heads": heads, "optional": True}  # type: ignore[dict-item]
    else:
        columns |= {"separator": own.separator, "task": own.task}
        columns |= {} if source == EMBEDDED else {"labels": own.labels}
    with own_columns(model, source, given):
        return read_data(source, **{**columns, **chosen})


@contextmanager
def own_columns(model: Model, source: str | Path, given: Mapping[str, Any]) -> Iterator[None]:
    """A column that the model reads by itself and the source lacks is said as such."""
    try:
        yield
    except MissingColumn as error:
        option = "labels" if error.what == "label" else "text"
        if given.get(option) is not None:
            raise
        wanted, there = ", ".join(_read_by(model, option)), ", ".join(error.columns)
        name = Path(source).name
        raise DataError(
            f"the model reads columns {wanted}; {name} has {there}; name them with --{option}"
        ) from None


def _read_by(model: Model, option: str) -> list[str]:
    """The columns that a model reads its texts or its labels from."""
    heads = [
        found["labels"] for name, found in model.inference.heads.items() if name in model.heads
    ]
    if option == "labels" and heads:
        return heads
    return str(getattr(model.inference.data, option)).split(",")


def _of_scheme(space: LabelSpace, tags: Iterable[str]) -> list[str]:
    """Those tags beside which the model's own still mean what they did; the others count as
    outside.
    """
    kind = scheme_of(space.names).kind
    return [tag for tag in tags if scheme_of((*space.names, tag)).kind == kind]


def _unseen_tags(space: LabelSpace, table: pa.Table) -> dict[str, int]:
    return tags_of(table, space)[1]


def _chunks(rows: np.ndarray, column: pa.ChunkedArray) -> Iterator[np.ndarray]:
    """Row numbers in chunks of bounded size; `column` has most of the bytes of a row."""
    for start, stop in bounds(row_bytes(column)[rows], rows=CHUNK, size=CHUNK_BYTES):
        yield rows[start:stop]


def _measured_tokens(
    model: Model, table: pa.Table, rows: np.ndarray, extra: tuple[str, ...]
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
        scores = Scores(*(np.pad(values, ((0, 0), (0, len(extra)))) for values in scores))
        truth, numbers = truth_of_tags(tags, len(whole)), np.arange(first, first + len(tags))
        first += len(tags)
        yield measured(scores, truth, offsets=offsets, tags=whole.names, rows=numbers)


def _measured(
    model: Model, table: pa.Table, rows: np.ndarray, extra: tuple[str, ...]
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
            truth = truth.toarray()
            # a label that the model does not know: no probability, never chosen
            wider = (
                (0, 0),
                (0, len(extra)),
            )
            scores = Scores(*(np.pad(values, wider) for values in scores))
        yield measured(scores, truth, rows=chunk)
