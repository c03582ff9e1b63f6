"""Raw rows in pieces, every input column kept: what tagging a file of any size reads."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tagwright.read._faults import Origin
from tagwright.read._find import Names, find_text, named
from tagwright.read._readers import read_batches, read_file
from tagwright.read.columns import joined_text
from tagwright.read.source import locate


def stream(path: str | Path, *, batch_rows: int = 8192, skip: int = 0) -> Iterator[pa.RecordBatch]:
    """Batches of at most `batch_rows` rows, all with one schema, in the order of the file, but the first `skip` rows.

    CSV, TSV, JSONL and Parquet take constant memory; the other formats are read whole first. A file with a header and
    no rows gives no batch.
    """
    for batch in read_batches(locate(path)):
        passed = min(skip, batch.num_rows)
        skip -= passed
        for start in range(passed, batch.num_rows, batch_rows):
            yield batch.slice(start, batch_rows)


def columns_of(path: Path) -> pa.Schema:
    """The columns of a file that has a header but no rows."""
    first = next(read_batches(path), None)
    return read_file(path).schema if first is None else first.schema


def texts_of(table: pa.Table, source: Path, names: Names = None) -> pa.ChunkedArray:
    """The text of every row, from these columns, or from those that look like text. A missing text is ""."""
    origin = Origin((source.name,), (table.num_rows,))
    return joined_text(table, named(table, origin, names, "text") or find_text(table, origin, ()))
