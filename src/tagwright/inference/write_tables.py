"""Writing tables by suffix: CSV, TSV, JSON lines and Parquet, in shards that join without reading
them whole.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from tagwright.errors import DataError, SettingsError, unknown
from tagwright.storage.files import json_ready

_RUNS = r"\A([=+\-@\t\r])"  # how a formula begins; a spreadsheet drops a tab or CR before it
_TEXT = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


class Write(Protocol):
    """Writes a table into a file; the first shard of a text file has a header."""

    def __call__(self, table: pa.Table, path: Path, *, header: bool) -> None:
        """Write the file."""


class Writer(NamedTuple):
    """How one format is written. `flat`: it has no lists."""

    flat: bool
    write: Write
    join: Callable[[Sequence[Path], Path], None]  # (shards, path)


def writer(path: Path) -> Writer:
    """The writer for a path's suffix."""
    known = {
        ".csv": Writer(True, _csv(","), _join_bytes),
        ".tsv": Writer(True, _csv("\t"), _join_bytes),
        ".jsonl": Writer(False, _jsonl, _join_bytes),
        ".parquet": Writer(False, _parquet, _join_parquet),
    }
    if path.suffix not in known:
        raise SettingsError(unknown("output suffix", path.suffix, known))
    return known[path.suffix]


def inert(table: pa.Table) -> pa.Table:
    """Cells of text and column names that begin with = + - @ get a ' in front, so that no
    spreadsheet runs them.
    """
    for i, name in enumerate(table.column_names):
        column = _as_written(table.column(i))
        if column.type in _TEXT:
            table = table.set_column(i, name, pc.replace_substring_regex(column, _RUNS, r"'\1"))
    return table.rename_columns([re.sub(_RUNS, r"'\1", name) for name in table.column_names])


def _as_written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells as a text file gets them: categories as what they stand for, bytes of any
    length.
    """
    if pa.types.is_dictionary(column.type):
        return _as_written(column.cast(column.type.value_type))
    return column.cast(pa.binary()) if pa.types.is_fixed_size_binary(column.type) else column


def flat(table: pa.Table, separator: str) -> pa.Table:
    """Lists of strings joined, other nested columns as JSON: what a cell can hold."""
    for i, column in enumerate(table.columns):
        kind = column.type
        if pa.types.is_nested(kind):
            of_lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
            of_strings = of_lists and str(kind.value_type) in ("string", "large_string")
            cells: list[str | None] = []
            for value in column.to_pylist():
                if value is None:
                    cells.append(None)
                elif of_strings:
                    cells.append(separator.join(item or "" for item in value))
                else:
                    cells.append(json.dumps(json_ready(value), ensure_ascii=False, default=str))
            table = table.set_column(i, table.column_names[i], pa.array(cells, pa.string()))
    return table


def _csv(delimiter: str) -> Write:
    def write(table: pa.Table, path: Path, *, header: bool) -> None:
        options = csv.WriteOptions(
            include_header=header, delimiter=delimiter, quoting_style="needed"
        )
        try:
            with _opened(path) as file:
                csv.write_csv(table, file, options)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"a column does not fit into a text file ({error}); write .jsonl or .parquet"
            ) from error

    return write


def _jsonl(table: pa.Table, path: Path, *, header: bool) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps(json_ready(row), ensure_ascii=False, default=str) + "\n"
            for row in table.to_pylist()
        )


def _parquet(table: pa.Table, path: Path, *, header: bool) -> None:
    with _opened(path) as file:
        parquet.write_table(table, file, compression="zstd")


def _join_bytes(shards: Sequence[Path], out: Path) -> None:
    with out.open("wb") as whole:
        for shard in shards:
            with shard.open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 20)


def _join_parquet(shards: Sequence[Path], out: Path) -> None:
    if not shards:
        raise SettingsError("the input has no rows, so there is nothing to write")
    with _opened(shards[0], "rb") as first:
        schema = parquet.read_schema(first)
    with _opened(out) as file, parquet.ParquetWriter(file, schema, compression="zstd") as whole:
        for shard in shards:
            with _opened(shard, "rb") as part:
                whole.write_table(parquet.read_table(part))


def _opened(path: Path, mode: str = "wb") -> pa.NativeFile:
    """A file for Arrow, which takes names that are not UTF-8 as bytes only."""
    return pa.OSFile(os.fsencode(path), mode)
