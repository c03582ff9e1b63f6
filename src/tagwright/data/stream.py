"""Raw rows in pieces, every input column kept: what tagging a file of any size reads."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tagwright.data.columns import joined_text
from tagwright.data.files.faults import Origin
from tagwright.data.files.limits import BATCH_BYTES, BATCH_ROWS
from tagwright.data.find_columns import Names, find_text, named
from tagwright.data.readers.by_suffix import read_batches, read_file
from tagwright.data.slices import after, slices
from tagwright.data.source import locate


def stream(
    path: str | Path, *, batch_rows: int = BATCH_ROWS, batch_bytes: int = BATCH_BYTES, skip: int = 0
) -> Iterator[pa.RecordBatch]:
    """Batches of at most so many rows and bytes, all with one schema, in the order of the file, but
    the first `skip` rows. A row of more bytes is a batch by itself.

    CSV, TSV, JSONL and Parquet take constant memory; the other formats are read whole first. A file
    with a header and no rows gives no batch.
    """
    for batch in after(read_batches(locate(path)), skip):
        yield from slices(batch, rows=batch_rows, size=batch_bytes)


def columns_of(path: Path) -> pa.Schema:
    """The columns of a file that has a header but no rows."""
    first = next(read_batches(path), None)
    return read_file(path).schema if first is None else first.schema


def texts_of(table: pa.Table, source: Path, names: Names = None) -> pa.ChunkedArray:
    """The text of every row, from these columns, or from those that look like text. A missing text
    is "".
    """
    origin = Origin((source.name,), (table.num_rows,))
    return joined_text(
        table, named(table, origin, names, "text") or find_text(table, origin, ()), origin
    )
