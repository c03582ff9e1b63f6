"""CSV and TSV: every cell a string as written, quoted newlines allowed, blank lines skipped.

The delimiter of `.csv` is the comma, unless the header line has none and has `;` or a tab; of `.tsv` it is the tab.
"""

import re
from collections.abc import Iterator
from csv import reader as plain_reader
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from tagwright.errors import DataError
from tagwright.read._bytes import BLOCK, STREAM_BLOCK, count_byte, head, load, open_bytes
from tagwright.read._faults import csv_fault, text_fault
from tagwright.read._reader import Reader


def csv(path: Path) -> pa.Table:
    """The whole file, all columns strings. A fault is an error that names file, line and column."""
    content = load(path)
    delimiter, header = _header(path)
    parse, convert = _options(delimiter, header)
    read = arrow_csv.ReadOptions(block_size=BLOCK)
    try:
        table = arrow_csv.read_csv(pa.BufferReader(content), read, parse, convert)
    except pa.ArrowInvalid as error:
        raise csv_fault(path, delimiter) or DataError(f"{path.name}: {error}") from error
    # The fast reader takes an open quote at the end, and text after a closing quote, without a word.
    if count_byte(content, ord('"')) % 2 or (table.num_rows and _ends_open(table.slice(table.num_rows - 1))):
        _raise_if(csv_fault(path, delimiter))
    expected = "\t" if _is_tsv(path) else ","
    note = {} if delimiter == expected else {"found": f"columns: separated by {delimiter!r}"}
    return table.replace_schema_metadata(note)


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The file in pieces, in constant memory."""
    delimiter, header = _header(path)
    parse, convert = _options(delimiter, header)
    read = arrow_csv.ReadOptions(block_size=STREAM_BLOCK)
    last = None
    with open_bytes(path) as stream:
        try:
            for batch in arrow_csv.open_csv(stream, read, parse, convert):
                if any(pc.any(pc.match_substring(column, "\0")).as_py() for column in batch.columns):
                    _raise_if(text_fault(path))
                yield batch
                last = batch if batch.num_rows else last
        except pa.ArrowInvalid as error:
            raise csv_fault(path, delimiter) or DataError(f"{path.name}: {error}") from error
    if last is not None and _ends_open(last.slice(last.num_rows - 1)):
        _raise_if(csv_fault(path, delimiter))


def _header(path: Path) -> tuple[str, list[str]]:
    start = head(path).lstrip("\r\n")
    line = re.split("[\r\n]", start, maxsplit=1)[0]
    delimiter = "\t" if _is_tsv(path) else ","
    if delimiter == "," and "," not in line:
        delimiter = next((mark for mark in ";\t" if mark in line), ",")
    names = next(plain_reader(StringIO(start, newline=""), delimiter=delimiter))
    if "\ufffd" in "".join(names):
        _raise_if(text_fault(path))
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"{path.name}, line 1: column {name!r} appears twice; give every column its own name")
    return delimiter, names


def _options(delimiter: str, header: list[str]) -> tuple[arrow_csv.ParseOptions, arrow_csv.ConvertOptions]:
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    # Strings all: a label "007" and a text "1e5" stay as written.
    convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False)
    return parse, convert


def _is_tsv(path: Path) -> bool:
    return any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes[-2:])


def _ends_open(last_row: pa.Table | pa.RecordBatch) -> bool:
    return "\n" in last_row.column(last_row.num_columns - 1)[0].as_py()


def _raise_if(fault: DataError | None) -> None:
    if fault is not None:
        raise fault


class CSV(Reader):
    """CSV and TSV."""

    suffixes = (".csv", ".tsv", ".tab")
    read = staticmethod(csv)
    batches = staticmethod(batches)


PART = CSV
