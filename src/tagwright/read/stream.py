"""Raw rows in pieces, every input column kept: what tagging a file of any size reads."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tagwright.read._readers import read_batches
from tagwright.read.source import locate


def stream(path: str | Path, *, batch_rows: int = 8192) -> Iterator[pa.RecordBatch]:
    """Batches of at most `batch_rows` rows, all with one schema, in the order of the file.

    CSV, TSV, JSONL and Parquet take constant memory; the other formats are read whole first. A file with a header and
    no rows gives no batch.
    """
    for batch in read_batches(locate(path)):
        for start in range(0, batch.num_rows, batch_rows):
            yield batch.slice(start, batch_rows)
