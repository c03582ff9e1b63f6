"""CSV and TSV: every cell a string as written, quoted newlines allowed, blank lines skipped.

The delimiter of `.csv` is the comma, unless the header line has none and has `;` or a tab; of
`.tsv` it is the tab.
"""

import re
from collections.abc import Iterator
from csv import reader as plain_reader
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from tagwright.data.files.faults import any_field_size, csv_fault, open_text, text_fault
from tagwright.data.files.limits import BATCH_BYTES, STREAM_BLOCK, Growth, require_columns
from tagwright.data.files.opening import open_bytes
from tagwright.data.files.text_bytes import count_byte, count_in_file, head
from tagwright.data.readers.reader import Reader
from tagwright.data.slices import after
from tagwright.errors import DataError


def csv(path: Path) -> pa.Table:
    """The whole file, all columns strings. A fault is an error that names file, line and column."""
    delimiter, header = _header(path)
    expected = "\t" if _is_tsv(path) else ","
    note = {} if delimiter == expected else {"found": f"columns: separated by {delimiter!r}"}
    schema = pa.schema([(name, pa.string()) for name in header])
    return pa.Table.from_batches(list(batches(path)), schema).replace_schema_metadata(note)


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The file in pieces, in constant memory."""
    delimiter, header = _header(path)
    growth, last = Growth(path), None
    try:
        for batch in _quickly(path, delimiter, header):
            growth.add(batch.nbytes)
            if any(_holds_nul(column) for column in batch.columns):
                _raise_if(text_fault(path))
            yield batch
            last = batch if batch.num_rows else last
    except pa.ArrowInvalid as error:
        raise csv_fault(path, delimiter) or DataError(f"{path.name}: {error}") from error
    # The fast reader takes an open quote at the end, and text after a closing quote, without a
    # word.
    if count_in_file(path, ord('"')) % 2 or (last is not None and _ends_open(last)):
        _raise_if(csv_fault(path, delimiter))


def _quickly(path: Path, delimiter: str, header: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows by the fast reader; once it meets one that is longer than a block, the rest by
    Python's own.
    """
    read, rows = arrow_csv.ReadOptions(block_size=STREAM_BLOCK), 0
    try:
        with open_bytes(path) as stream:
            for batch in arrow_csv.open_csv(stream, read, *_options(delimiter, header)):
                yield batch
                rows += batch.num_rows
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error):
            raise
        _raise_if(csv_fault(path, delimiter))
        yield from after(_slowly(path, delimiter, header), rows)


def _slowly(path: Path, delimiter: str, header: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a sound file by Python's reader, which takes a row of any length."""
    with open_text(path) as stream:
        rows = filter(None, plain_reader(stream, delimiter=delimiter, strict=True))
        with any_field_size():
            next(rows)  # the header
        while held := _some(rows):
            yield _batch(held, header)


def _some(rows: Iterator[list[str]]) -> list[list[str]]:
    """The next rows, until they have the bytes of a batch."""
    held, size = [], 0
    with any_field_size():
        for row in rows:
            held.append(row)
            size += sum(map(len, row))
            if size > BATCH_BYTES:
                break
    return held


def _batch(rows: list[list[str]], header: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(column, pa.string()) for column in zip(*rows)], names=header
    )


def _holds_nul(column: pa.StringArray) -> bool:
    """Whether a column that the fast reader has made has a NUL byte; searching its strings takes
    ten times as long.
    """
    return bool(count_byte(column.buffers()[2], 0)) and bool(
        pc.any(pc.match_substring(column, "\0")).as_py()
    )


def _header(path: Path) -> tuple[str, list[str]]:
    start = head(path).lstrip("\r\n")
    if not re.search("[\r\n]", start):
        start = head(path, STREAM_BLOCK).lstrip("\r\n")
    line = re.split("[\r\n]", start, maxsplit=1)[0]
    if len(line.encode()) > STREAM_BLOCK - 8:  # all that was read, but for a mark
        raise DataError(
            f"{path.name}, line 1: longer than {STREAM_BLOCK:,} bytes; expected a header with"
            " column names"
        )
    delimiter = "\t" if _is_tsv(path) else ","
    if delimiter == "," and "," not in line:
        delimiter = next((mark for mark in ";\t" if mark in line), ",")
    with any_field_size():
        names = next(plain_reader(StringIO(start, newline=""), delimiter=delimiter))
    if "\ufffd" in "".join(names):
        _raise_if(text_fault(path))
    require_columns(path, len(names))
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(
                f"{path.name}, line 1: column {name!r} appears twice; give every column its own"
                " name"
            )
        seen.add(name)
    return delimiter, names


def _options(
    delimiter: str, header: list[str]
) -> tuple[arrow_csv.ParseOptions, arrow_csv.ConvertOptions]:
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    # Strings all: a label "007" and a text "1e5" stay as written.
    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
    )
    return parse, convert


def _is_tsv(path: Path) -> bool:
    return any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes[-2:])


def _ends_open(batch: pa.RecordBatch) -> bool:
    return "\n" in batch.column(batch.num_columns - 1)[-1].as_py()


def _raise_if(fault: DataError | None) -> None:
    if fault is not None:
        raise fault


class CSV(Reader):
    """CSV and TSV."""

    suffixes = (".csv", ".tsv", ".tab")
    read = staticmethod(csv)
    batches = staticmethod(batches)


PART = CSV
