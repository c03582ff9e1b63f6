"""Parquet: columns as they are stored."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet as arrow_parquet

from tagwright.data.files.limits import (
    BATCH_BYTES,
    BATCH_ROWS,
    LEAST_GROWTH,
    Growth,
    require_columns,
)
from tagwright.data.files.opening import open_raw
from tagwright.data.readers.reader import Reader
from tagwright.data.slices import row_bytes, total_bytes
from tagwright.errors import DataError

BUFFER = 1 << 20  # bytes read at a time; else a whole column of a row group is
# that a batch may have when all its rows have the longest value of a dictionary
FEW_BYTES = 1 << 26
TEXT = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


def parquet(path: Path) -> pa.Table:
    """The whole file, without its metadata."""
    found = list(batches(path))
    return pa.Table.from_batches(
        found, found[0].schema if found else _opened(path).schema_arrow.remove_metadata()
    )


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The file in pieces, in constant memory."""
    try:
        file, growth, first = _opened(path), Growth(path), 0
        for batch in file.iter_batches(batch_size=_batch_rows(path, file.metadata)):
            growth.add(total_bytes(batch))
            _require_sound(batch, path, first)
            first += batch.num_rows
            yield batch.replace_schema_metadata(None)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _fault(path, error) from error


def _opened(path: Path, dictionaries: list[str] | None = None) -> arrow_parquet.ParquetFile:
    file = arrow_parquet.ParquetFile(
        open_raw(path), pre_buffer=False, buffer_size=BUFFER, read_dictionary=dictionaries
    )
    require_columns(path, file.metadata.num_columns)
    return file


def _batch_rows(path: Path, found: arrow_parquet.FileMetaData) -> int:
    """How many rows to read at a time: about half of `BATCH_BYTES`, as the file tells their sizes.

    A file does not tell how often it uses the values of a dictionary, so the longest may be in
    every row.
    """
    rows, growth = BATCH_ROWS, Growth(path)
    for place in range(found.num_row_groups):
        group = found.row_group(place)
        rows = min(rows, BATCH_BYTES // 2 * group.num_rows // max(group.total_byte_size, 1))
        names = [column.path_in_schema for column in _columns(group) if _may_grow(column)]
        if names:
            longest = sum(_longest(column) for column in _values(path, names, place, 1).columns)
            rows = min(rows, FEW_BYTES // max(longest, 1))
            if longest * group.num_rows > growth.most:  # else the rows are counted as they come
                growth.add(int(row_bytes(_values(path, names, place, group.num_rows)).sum()))
    return max(rows, 1)


def _values(path: Path, names: list[str], group: int, rows: int) -> pa.RecordBatch:
    """The first rows of a group with their dictionaries, which take no more memory than the file
    tells.
    """
    return next(
        _opened(path, names).iter_batches(
            rows, row_groups=[group], columns=names, use_threads=False
        )
    )


def _columns(group: arrow_parquet.RowGroupMetaData) -> Iterator[arrow_parquet.ColumnChunkMetaData]:
    return (group.column(place) for place in range(group.num_columns))


def _may_grow(column: arrow_parquet.ColumnChunkMetaData) -> bool:
    """Whether its values may take far more than the bytes that the file tells: each may be the
    longest possible.
    """
    grown = column.num_values * column.total_uncompressed_size
    return bool(
        column.physical_type in TEXT and column.has_dictionary_page and grown > LEAST_GROWTH
    )


def _longest(values: pa.Array) -> int:
    """Bytes of the longest value of the dictionary inside."""
    if pa.types.is_dictionary(values.type):
        return int(row_bytes(values.dictionary).max(initial=0))
    return max(
        map(_longest, values.flatten() if pa.types.is_struct(values.type) else [values.flatten()])
    )


def _require_sound(batch: pa.RecordBatch, path: Path, first: int) -> None:
    """Refuse text that is not UTF-8, in cells and in names; rows of the file count from 1, and
    `first` were before.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        for name, column in zip(batch.schema.names, batch.columns):
            row = _broken_row(column)
            if row is not None:
                place = f"{path.name}, row {first + row + 1}, column {name!r}"
                raise DataError(
                    f"{place}: bytes that are not UTF-8 text; write the column anew as UTF-8"
                ) from None
        raise
    _ = batch.schema.names  # names that are not UTF-8


def _broken_row(column: pa.Array) -> int | None:
    """The first row of a text column whose bytes are not UTF-8."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    for row, value in enumerate(column.cast(pa.large_binary())):
        try:
            (value.as_py() or b"").decode()
        except UnicodeDecodeError:
            return row
    return None


def _fault(path: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path}: no such file")
    return DataError(
        f"{path.name}: not a sound Parquet file ({str(error).splitlines()[0]}); write it anew"
    )


class Parquet(Reader):
    """Parquet."""

    suffixes = (".parquet", ".pq")
    read = staticmethod(parquet)
    batches = staticmethod(batches)


PART = Parquet
