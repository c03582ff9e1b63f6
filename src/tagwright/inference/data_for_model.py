"""Labelled data, read as a model's own data were read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Ints
from tagwright.data import Data, read_data
from tagwright.data.find_columns import MissingColumn
from tagwright.data.source import EMBEDDED, DataGiven
from tagwright.errors import DataError, SettingsError
from tagwright.inference.model import Model
from tagwright.labels.space import LabelSpace


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


def known_rows(space: LabelSpace, table: pa.Table, source: str) -> Ints:
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


def has_answers(data: Data, split: str | None) -> bool:
    """Whether some row of the split has labels, or tags, of a single head."""
    table, kind = data.tables[_split_of(data, split)], "tags" if data.task == "tokens" else "labels"
    return bool(table[kind].null_count < table.num_rows)


def read_for_model(model: Model, source: str, given: Mapping[str, str | None]) -> Data:
    """Read data as the model's own were read, but for what is given; the embedded set knows its
    columns itself.

    Of several heads those are read whose labels are there.
    """
    own = model.inference.data
    chosen = {k: v for k, v in given.items() if v is not None and (k, v) != ("separator", "auto")}
    # all: they say where the text is
    heads = {name: dict(found) for name, found in model.inference.heads.items()}
    columns: dict[str, object] = {} if source == EMBEDDED else {"text": own.text}
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
        columns |= {"heads": heads, "optional": True}
    else:
        columns |= {"separator": own.separator, "task": own.task}
        columns |= {} if source == EMBEDDED else {"labels": own.labels}
    with own_columns(model, source, given):
        return read_data(source, **cast(DataGiven, {**columns, **chosen}))


@contextmanager
def own_columns(
    model: Model, source: str | Path, given: Mapping[str, str | None]
) -> Iterator[None]:
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
