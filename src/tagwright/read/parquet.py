"""Parquet: columns as they are stored."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet as arrow_parquet

from tagwright.errors import DataError
from tagwright.read._reader import Reader


def parquet(path: Path) -> pa.Table:
    """The whole file, without its metadata."""
    try:
        table = arrow_parquet.ParquetFile(path).read()
        table.validate(full=True)
        return table.select(table.column_names).replace_schema_metadata(None)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _fault(path, error) from error


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The file in pieces, in constant memory."""
    try:
        for batch in arrow_parquet.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=8192):
            yield batch.replace_schema_metadata(None)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _fault(path, error) from error


def _fault(path: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path}: no such file")
    return DataError(f"{path.name}: not a sound Parquet file ({str(error).splitlines()[0]}); write it anew")


class Parquet(Reader):
    """Parquet."""

    suffixes = (".parquet", ".pq")
    read = staticmethod(parquet)
    batches = staticmethod(batches)


PART = Parquet
