"""The slow second pass: once the fast reader has failed, go line by line until the fault has a place and a name."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import pyarrow as pa

from tagwright.errors import DataError

LATIN = "is the file Latin-1? Convert it: iconv -f latin1 -t utf-8"
KINDS = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}


class Origin(NamedTuple):
    """Which file a row of the joined table came from."""

    names: tuple[str, ...]
    rows: tuple[int, ...]  # rows of each file

    def __str__(self) -> str:
        return ", ".join(self.names)

    def at(self, row: int) -> str:
        """The place of a row, for a message: "train.csv, row 7" (rows count from 1, the header aside)."""
        ends = np.cumsum(self.rows)
        part = int(np.searchsorted(ends, row, side="right"))
        return f"{self.names[part]}, row {row - int(ends[part]) + self.rows[part] + 1}"


def text_fault(path: Path) -> DataError | None:
    """The first line with a NUL byte or broken UTF-8; None when there is none."""
    with pa.input_stream(str(path), compression="detect") as stream:
        for number, line in enumerate(_byte_lines(stream), 1):
            column = line.find(b"\0")
            if column >= 0:
                return DataError(f"{path.name}, line {number}, byte {column + 1}: a NUL byte; is it a text file?")
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                column = len(line[: error.start].decode("utf-8")) + 1
                byte = f"byte 0x{line[error.start]:02X} is not UTF-8"
                return DataError(f"{path.name}, line {number}, column {column}: {byte}; {LATIN} {path.name} > new-file")
    return None


def csv_fault(path: Path, delimiter: str) -> DataError | None:
    """The first ragged row, open quote or broken character of a CSV file; None when every row is sound."""
    fault = text_fault(path)
    if fault is not None:
        return fault
    with _text(path) as stream, _any_field_size():
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        header: list[str] = []
        start = 1
        try:
            for row in reader:
                header = header or row
                if row and len(row) != len(header):
                    return DataError(f"{path.name}, line {start}: {ragged(len(row), header)}")
                start = reader.line_num + 1
        except csv.Error as error:
            return _quote_fault(path, delimiter, header, start, str(error))
    return None


def ragged(count: int, header: list[str]) -> str:
    """What is wrong with a row of `count` cells."""
    names = ", ".join(header[:8]) + (", …" if len(header) > 8 else "")
    columns = "column" if count == 1 else "columns"
    return f"{count} {columns}, expected {len(header)} ({names}); is a quote or a separator missing?"


def json_fault(path: Path) -> DataError | None:
    """The first line that is no JSON object, or whose value is of another kind than before; None when all are sound."""
    fault = text_fault(path)
    if fault is not None:
        return fault
    kinds: dict[str, tuple[str, int]] = {}
    with _text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                fault = _line_fault(line.rstrip("\r\n"), f"{path.name}, line {number}", number, kinds)
                if fault is not None:
                    return fault
    return None


def _line_fault(line: str, place: str, number: int, kinds: dict[str, tuple[str, int]]) -> DataError | None:
    try:
        pairs = json.loads(line, object_pairs_hook=list)
        value = json.loads(line)
    except json.JSONDecodeError as error:
        return DataError(f"{place}, column {error.colno}: broken JSON, {error.msg}; expected one object a line")
    if not isinstance(value, dict):
        came = KINDS.get(type(value), "null")
        return DataError(f'{place}: {came}, expected an object such as {{"text": "…", "labels": ["…"]}}')
    if any("\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False)):
        return DataError(f"{place}: half of a surrogate pair (\\ud800 to \\udfff); write the whole character")
    if len(pairs) != len(value):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in [name for name, _ in pairs[:i]])
        return DataError(f"{place}: key {twice!r} appears twice; keep one")
    for key, kind in _kinds(value):
        before, first = kinds.setdefault(key, (kind, number))
        if before != kind:
            return DataError(
                f"{place}: {key!r} is {kind}, but {before} in line {first}; write it the same in every line"
            )
    return None


def _kinds(value: dict[str, object]) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if item is not None:
            yield key, KINDS[type(item)]
        if isinstance(item, list):
            yield from ((f"{key}[]", KINDS[type(inner)]) for inner in item if inner is not None)


def _quote_fault(path: Path, delimiter: str, header: list[str], start: int, message: str) -> DataError:
    with _text(path) as stream:
        first = next(line for number, line in enumerate(stream, 1) if number == start)
    cells = next(csv.reader([first], delimiter=delimiter), [""])
    name = header[len(cells) - 1] if len(cells) <= len(header) else f"number {len(cells)}"
    if "end of data" in message:
        what = "a quote is opened and never closed"
    else:
        what = "text follows a closing quote"
    return DataError(
        f"{path.name}, line {start}, column {name!r}: {what}; a quote inside a quoted cell is written twice"
    )


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    stream = pa.input_stream(str(path), compression="detect")
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        yield text


@contextmanager
def _any_field_size() -> Iterator[None]:
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _byte_lines(stream: pa.NativeFile) -> Iterator[bytes]:
    yield from io.BufferedReader(stream)
