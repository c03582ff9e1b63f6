"""The slow second pass: once the fast reader has failed, go line by line until the fault has a
place and a name.
"""

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import pyarrow as pa

from tagwright.data.files.depth import is_too_deep
from tagwright.data.files.limits import DEPTH, ROW, Growth, long_row
from tagwright.data.files.opening import open_bytes
from tagwright.errors import DataError

LATIN = "is the file Latin-1? Convert it: iconv -f latin1 -t utf-8"
FEW = 1 << 20  # bytes of lines that are looked at together
KEPT = 1 << 10  # lines that are known again
KINDS = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


class Origin(NamedTuple):
    """Which file a row of the joined table came from."""

    names: tuple[str, ...]
    rows: tuple[int, ...]  # rows of each file

    def __str__(self) -> str:
        return ", ".join(self.names)

    def at(self, row: int) -> str:
        """The place of a row, for a message: "train.csv, row 7" (rows count from 1, the header
        aside).
        """
        ends = np.cumsum(self.rows)
        part = int(np.searchsorted(ends, row, side="right"))
        return f"{self.names[part]}, row {row - int(ends[part]) + self.rows[part] + 1}"


def text_fault(path: Path) -> DataError | None:
    """The first line with a NUL byte or broken UTF-8, or beyond the limit; None when there is
    none.
    """
    growth, before = Growth(path), 0
    with open_bytes(path) as stream:
        for lines in _whole_lines(stream):
            growth.add(len(lines))
            if _may_be_broken(lines):
                for number, line in enumerate(io.BytesIO(lines), before + 1):
                    fault = _byte_fault(line, f"{path.name}, line {number}", path)
                    if fault is not None:
                        return fault
            before += lines.count(b"\n")
    return None


def _may_be_broken(lines: bytes) -> bool:
    """Whether one of the lines may have a fault; most have none, and are not looked at one by
    one.
    """
    try:
        lines.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return len(lines) > ROW or b"\0" in lines


def _byte_fault(line: bytes, place: str, path: Path) -> DataError | None:
    column = line.find(b"\0")
    if column >= 0:
        return DataError(f"{place}, byte {column + 1}: a NUL byte; is it a text file?")
    if len(line) > ROW and b"\r" not in line:
        return long_row(place)
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode("utf-8")) + 1
        byte = f"byte 0x{line[error.start]:02X} is not UTF-8"
        return DataError(f"{place}, column {column}: {byte}; {LATIN} {path.name} > new-file")
    return None


def csv_fault(path: Path, delimiter: str) -> DataError | None:
    """The first ragged row, open quote or broken character of a CSV file; None when every row is
    sound.
    """
    fault = text_fault(path)
    if fault is not None:
        return fault
    with open_text(path) as stream, any_field_size():
        lines = _OfRow(stream)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        header: list[str] = []
        start = 1
        try:
            for row in reader:
                header = header or row
                if row and len(row) != len(header):
                    return DataError(f"{path.name}, line {start}: {ragged(len(row), header)}")
                start, lines.size = reader.line_num + 1, 0
        except OverflowError:
            return long_row(f"{path.name}, line {start}")
        except csv.Error as error:
            return _quote_fault(path, delimiter, header, start, str(error))
    return None


class _OfRow:
    """Lines of text, of one row no more than the limit; an open quote would make one of all that
    follow.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.size = lines, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.size += len(line)
            if self.size > ROW:
                raise OverflowError
            yield line


def ragged(count: int, header: list[str]) -> str:
    """What is wrong with a row of `count` cells."""
    names = ", ".join(header[:8]) + (", …" if len(header) > 8 else "")
    columns = "column" if count == 1 else "columns"
    return (
        f"{count} {columns}, expected {len(header)} ({names}); is a quote or a separator missing?"
    )


def json_fault(path: Path) -> DataError | None:
    """The first line that is no JSON object, or whose value is of another kind than before; None
    when all are sound.
    """
    fault = text_fault(path)
    if fault is not None:
        return fault
    kinds: dict[str, tuple[str, int]] = {}
    # what packs to little repeats itself: a line that was sound is not looked at again
    sound: set[str] = set()
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line not in sound and line.strip():
                fault = _line_fault(
                    line.rstrip("\r\n"), f"{path.name}, line {number}", number, kinds
                )
                if fault is not None:
                    return fault
                if len(sound) < KEPT and len(line) < FEW // KEPT:
                    sound.add(line)
    return None


def _line_fault(
    line: str, place: str, number: int, kinds: dict[str, tuple[str, int]]
) -> DataError | None:
    if line.count("[") + line.count("{") > DEPTH and is_too_deep(line.encode(), DEPTH):
        return DataError(
            f"{place}: nested more than {DEPTH} levels deep; write the inner part as a string"
        )
    try:
        pairs, value = _loaded(line, object_pairs_hook=list), _loaded(line)
    except json.JSONDecodeError as error:
        return DataError(
            f"{place}, column {error.colno}: broken JSON, {error.msg}; expected one object a line"
        )
    except OverflowError as error:
        return DataError(f"{place}: the number {error} is too large; write it as a string")
    if not isinstance(value, dict):
        came = KINDS.get(type(value), "null")
        return DataError(
            f'{place}: {came}, expected an object such as {{"text": "…", "labels": ["…"]}}'
        )
    if any(
        "\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False)
    ):
        return DataError(
            f"{place}: half of a surrogate pair (\\ud800 to \\udfff); write the whole character"
        )
    if len(pairs) != len(value):
        names = [name for name, _ in pairs]
        twice = next(key for key, count in Counter(names).items() if count > 1)
        return DataError(f"{place}: key {twice!r} appears twice; keep one")
    for key, kind in _kinds(value):
        before, first = kinds.setdefault(key, (kind, number))
        if before != kind:
            return DataError(
                f"{place}: {key!r} is {kind}, but {before} in line {first}; write it the same in"
                " every line"
            )
    return None


def _float(written: str) -> float:
    value = float(written)
    if math.isinf(value):
        raise OverflowError(written if len(written) <= 30 else f"{written[:30]}…")
    return value


# numbers as floats: integers of any length are sound, but not floats
_loaded = partial(json.loads, parse_int=float, parse_float=_float)


def _kinds(value: dict[str, object]) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if item is not None:
            yield key, KINDS[type(item)]
        if isinstance(item, list):
            yield from ((f"{key}[]", KINDS[type(inner)]) for inner in item if inner is not None)


def _quote_fault(
    path: Path, delimiter: str, header: list[str], start: int, message: str
) -> DataError:
    with open_text(path) as stream:
        first = next(line for number, line in enumerate(stream, 1) if number == start)
    cells = next(csv.reader([first], delimiter=delimiter), [""])
    name = header[len(cells) - 1] if len(cells) <= len(header) else f"number {len(cells)}"
    if "end of data" in message:
        what = "a quote is opened and never closed"
    else:
        what = "text follows a closing quote"
    return DataError(
        f"{path.name}, line {start}, column {name!r}: {what}; a quote inside a quoted cell is"
        " written twice"
    )


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """The file as lines of text, decompressed, with their own line ends."""
    with io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="") as text:
        yield text


@contextmanager
def any_field_size() -> Iterator[None]:
    """Lift the limit of Python's own reader to that of a row."""
    limit = csv.field_size_limit(ROW)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _whole_lines(stream: pa.NativeFile) -> Iterator[bytes]:
    """Some lines at a time, of the last no more than is needed to see that it is too long."""
    content = io.BufferedReader(stream)
    return iter(lambda: content.read(FEW) + content.readline(ROW + 1), b"")
