"""What reading gives: Arrow tables with canonical columns, one a split, and what was found on the way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

Task = Literal["one", "many", "tokens", "both"]
SPLITS = ("train", "dev", "test")


class Size(NamedTuple):
    """Rows to learn from and different labels in them: what some defaults depend on."""

    rows: int
    labels: int


@dataclass(frozen=True, kw_only=True)
class Data:
    """Labelled text.

    Every table has `text` (string) and `labels` (list<string>; null = unlabelled, [] = none). Optional columns:
    `values` (list<float>, beside `labels`: soft labels), `unknown` (list<string>: labels nobody judged),
    `id`, `group`, `weight`. Token tasks carry `tokens`, `tags` (list<string>) and `starts` (list<int32>: offsets into
    `text`). `tables` has "train" and perhaps "dev" and "test", or "all" where the source does not say.
    """

    tables: Mapping[str, pa.Table]
    task: Task
    source: str
    text_columns: tuple[str, ...] = ()  # where `text` came from, so that a model can find it again
    label_columns: tuple[str, ...] = ()
    separator: str = "auto"  # what labels were split at, "none" for not at all; "auto" where they came as lists
    found: tuple[str, ...] = ()  # one sentence each: what was taken for text, labels, separator, task

    @property
    def first(self) -> pa.Table:
        """The table to learn from."""
        return self.tables.get("train", self.tables.get("all"))

    @property
    def size(self) -> Size:
        """How much there is to learn from."""
        table = self.first
        tags = pc.list_flatten(table["labels"]) if "labels" in table.column_names else pa.array([], pa.string())
        return Size(rows=table.num_rows, labels=pc.count_distinct(tags).as_py())
