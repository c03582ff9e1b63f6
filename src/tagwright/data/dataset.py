"""What reading gives: Arrow tables with canonical columns, one a split, and what was found on the
way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.find_columns import whole

Task = Literal["one", "many", "tokens", "both"]
SPLITS = ("train", "dev", "test")
NAME = r"[A-Za-z][A-Za-z0-9_-]{0,63}"
NAMES = (
    "a head's name is a letter of a-z and at most 63 more of a-z, 0-9, - and _; name its column"
    " apart, as NAME=COLUMN"
)
OF_HEADS = ("labels", "values", "unknown", "tags")  # columns that each head has of its own


@dataclass(frozen=True, kw_only=True)
class HeadColumns:
    """Where the labels of one named head come from: its task, the columns, and what labels were
    split at.
    """

    task: Task
    columns: tuple[str, ...] = ()
    separator: str = "auto"


class Size(NamedTuple):
    """Rows to learn from and different labels in them: what some defaults depend on."""

    rows: int
    labels: int


@dataclass(frozen=True, kw_only=True)
class Data:
    """Labelled text.

    Every table has `text` (string) and `labels` (list<string>; null = unlabelled, [] = none).
    Optional columns: `values` (list<float>, beside `labels`: soft labels), `unknown` (list<string>:
    labels nobody judged), `id`, `group`, `weight`. Token tasks carry `tokens`, `tags`
    (list<string>) and `starts` (list<int32>: offsets into `text`). `tables` has "train" and perhaps
    "dev" and "test", or "all" where the source does not say.

    Where several `heads` are learnt, each has its own columns `labels/NAME`, `values/NAME`,
    `unknown/NAME` or `tags/NAME`, and `of_head` gives them their plain names; one head alone has
    plain columns. Then `labels` holds the labels of all heads of whole texts, as "NAME=label", null
    where no head has any.
    """

    tables: Mapping[str, pa.Table]
    task: Task
    source: str
    text_columns: tuple[str, ...] = ()  # where `text` came from, so that a model can find it again
    label_columns: tuple[str, ...] = ()
    # what labels were split at, "none" for not at all; "auto" where they came as lists
    separator: str = "auto"
    # by name; empty: one head, called "main"
    heads: Mapping[str, HeadColumns] = field(default_factory=dict)
    # one sentence each: what was taken for text, labels, separator, task
    found: tuple[str, ...] = ()

    def alone(self, name: str) -> "Data":
        """The same for one head, as if there were no other; where there is one head it is called
        anything.
        """
        if not self.heads:
            return self
        own, tables = (
            self.heads[name],
            {one: of_head(table, name) for one, table in self.tables.items()},
        )
        facts = {"label_columns": own.columns, "separator": own.separator, "heads": {}}
        return replace(self, tables=tables, task=own.task, **facts)  # type: ignore[arg-type]

    @property
    def first(self) -> pa.Table:
        """The table to learn from."""
        return self.tables.get("train", self.tables.get("all"))

    def marks(self, table: pa.Table) -> pa.ListArray | pa.ChunkedArray:
        """What is counted and spread evenly of one of its tables: labels, or tags where every head
        tags tokens.

        Of several heads marks are named as "NAME=mark".
        """
        if self.task != "tokens":
            return table["labels"]
        if len(self.heads) < 2:
            return table["tags"]
        return united({name: whole(table[f"tags/{name}"]) for name in self.heads})

    @property
    def size(self) -> Size:
        """How much there is to learn from."""
        table = self.first
        tags = (
            pc.list_flatten(table["labels"])
            if "labels" in table.column_names
            else pa.array([], pa.string())
        )
        return Size(rows=table.num_rows, labels=pc.count_distinct(tags).as_py())


def names_heads(table: pa.Table) -> bool:
    """Whether the labels of the table are those of named heads, as "NAME=label"."""
    return any(column.startswith("labels/") for column in table.column_names)


def of_head(table: pa.Table, name: str) -> pa.Table:
    """The table with the columns of one head under their plain names; as it is where heads have no
    columns apart.

    >>> labels = {"labels": [["topic=x", "kind=y"]], "labels/topic": [["x"]]}
    >>> table = pa.table({"text": ["a"], **labels})
    >>> of_head(table, "topic").column_names, of_head(table, "topic")["labels"].to_pylist()
    (['text', 'labels'], [['x']])
    """
    own = {f"{column}/{name}": column for column in OF_HEADS}
    if not any("/" in column for column in table.column_names):
        return table
    kept = [column for column in table.column_names if "/" not in column and column not in OF_HEADS]
    found = {own[column]: table[column] for column in table.column_names if column in own}
    return pa.table({**{column: table[column] for column in kept}, **found})


def united(heads: Mapping[str, pa.ListArray]) -> pa.ListArray:
    """The labels of all heads as "NAME=label"; null where every head is null.

    >>> own = {"topic": pa.array([["x"], None]), "urgency": pa.array([["low", "late"], None])}
    >>> united(own).to_pylist()
    [['topic=x', 'urgency=low', 'urgency=late'], None]
    """
    rows = np.concatenate(
        [pc.list_parent_indices(lists).to_numpy(zero_copy_only=False) for lists in heads.values()]
    )
    flat = [
        pc.binary_join_element_wise(name, lists.flatten(), "=") for name, lists in heads.items()
    ]
    null = np.all(
        [lists.is_null().to_numpy(zero_copy_only=False) for lists in heads.values()], axis=0
    )
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(null)))]).astype(
        np.int32
    )
    names = pa.concat_arrays(flat).take(pa.array(np.argsort(rows, kind="stable")))
    return pa.ListArray.from_arrays(pa.array(offsets), names, mask=pa.array(null))
