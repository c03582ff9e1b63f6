"""Raw columns, read as one file of a source is."""

from typing import Any

import pyarrow as pa

from tagwright.data.columns import canonical
from tagwright.data.files.faults import Origin

AUTO: dict[str, Any] = {"text": None, "labels": None, "task": None, "separator": "auto"}


def read(
    columns: dict[str, Any], **options: Any
) -> tuple[list[dict[str, Any]], str, tuple[str, ...]]:
    table = pa.table(columns)
    made, task, found, *_ = canonical(
        table, Origin(("a.csv",), (table.num_rows,)), **AUTO | options
    )
    made.validate(full=True)
    assert made.schema.field("labels").type == pa.list_(pa.string())
    assert made.schema.field("text").type == pa.string()
    return made.to_pylist(), task, found


def labels_of(cells: Any, **options: Any) -> list[list[str] | None]:
    rows, _, _ = read(
        {"text": [f"text {i}" for i in range(len(cells))], "labels": cells}, **options
    )
    return [row["labels"] for row in rows]
