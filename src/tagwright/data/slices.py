"""Rows in slices of bounded size: at most so many rows and at most so many bytes at a time.

A row that holds a page is a thousand times as large as one that holds a headline, so memory is
bounded by bytes.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Ints
from tagwright.labels.list_columns import offsets_of

OFFSET = 4  # bytes of a string or list that is empty

Rows = TypeVar("Rows", pa.Array, pa.ChunkedArray, pa.RecordBatch, pa.Table)


def slices(data: Rows, *, rows: int, size: int) -> Iterator[Rows]:
    """Yield the rows in order, at most `rows` and at most `size` bytes at a time. A larger row
    comes by itself.

    >>> texts = pa.array(["a", "b", "c", "long text", "d"])
    >>> [part.to_pylist() for part in slices(texts, rows=2, size=10)]
    [['a', 'b'], ['c'], ['long text'], ['d']]
    """
    if 0 < len(data) <= rows and not _has_dictionary(data) and data.nbytes <= size:
        yield data  # most of what is read: no row need be looked at
        return
    for start, stop in bounds(row_bytes(data), rows=rows, size=size):
        yield data.slice(start, stop - start)


def bounds(sizes: Ints, *, rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where each slice of rows with these `sizes` (n,) begins and ends. Equal sizes give
    equal slices.

    >>> list(bounds(np.array([2, 2, 2, 9, 1]), rows=2, size=4))
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    ends = np.cumsum(sizes)
    start, before = 0, 0
    while start < len(ends):
        stop = int(np.searchsorted(ends, before + size, side="right"))
        stop = min(max(stop, start + 1), start + rows)
        yield start, stop
        start, before = stop, int(ends[stop - 1])


def after(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches without their first `rows` rows."""
    for batch in batches:
        passed = min(rows, batch.num_rows)
        rows -= passed
        if not passed:
            yield batch
        elif passed < batch.num_rows:
            yield batch.slice(passed)


def total_bytes(data: Rows) -> int:
    """Bytes of all rows, counted as by `row_bytes`, or a little more."""
    return int(row_bytes(data).sum()) if _has_dictionary(data) else data.nbytes


def _has_dictionary(data: pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table) -> bool:
    """Whether values are used more often than they are stored, at any depth."""
    held = data.schema.types if isinstance(data, pa.RecordBatch | pa.Table) else [data.type]
    return any("dictionary<" in str(kind) or "view" in str(kind) for kind in held)


def row_bytes(data: pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table) -> Ints:
    """Bytes of each row, int64 (n,). A value of a dictionary counts each time it is used.

    >>> row_bytes(pa.array(["a", "bcd", None])).tolist()
    [5, 7, 4]
    """
    if isinstance(data, pa.RecordBatch | pa.Table):
        return sum(
            (row_bytes(column) for column in data.columns), start=np.zeros(data.num_rows, np.int64)
        )
    if isinstance(data, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, np.int64), *(row_bytes(chunk) for chunk in data.chunks)])
    return _value_bytes(data.storage if isinstance(data, pa.ExtensionArray) else data)


def _value_bytes(values: pa.Array) -> Ints:
    kind = values.type
    if pa.types.is_dictionary(kind):
        used = pc.fill_null(values.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
        return np.append(row_bytes(values.dictionary), 0)[used]  # -1 takes the last one
    if pa.types.is_struct(kind):
        return sum(
            (row_bytes(child) for child in values.flatten()), start=np.zeros(len(values), np.int64)
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        offsets = offsets_of(values)
        ends = np.append(0, np.cumsum(row_bytes(values.flatten())))
        return ends[offsets[1:]] - ends[offsets[:-1]] + OFFSET
    if _is_text(kind):
        wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
        offsets = np.frombuffer(values.buffers()[1] or b"", np.int64 if wide else np.int32)
        lengths = np.diff(offsets[values.offset : values.offset + len(values) + 1])
        return lengths.astype(np.int64) + OFFSET if len(values) else np.zeros(0, np.int64)
    return np.full(len(values), -(-values.nbytes // max(len(values), 1)), np.int64)  # all alike


def _is_text(kind: pa.DataType) -> bool:
    of = pa.types
    return bool(
        of.is_string(kind)
        or of.is_large_string(kind)
        or of.is_binary(kind)
        or of.is_large_binary(kind)
    )
