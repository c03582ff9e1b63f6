"""JSON lines: one object a line, its keys the columns; a missing key is null. Strings stay strings,
dates too.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from tagwright.data.files.depth import line_starts, too_deep
from tagwright.data.files.faults import json_fault
from tagwright.data.files.limits import CELLS, DEPTH, JSON_BLOCK, SPARSE, require_columns
from tagwright.data.files.text_bytes import count_byte, head, line_blocks
from tagwright.data.readers import _digits
from tagwright.data.readers.reader import Reader
from tagwright.errors import DataError

AT_ONCE = min(os.cpu_count() or 1, 8)  # pieces that are parsed at the same time


class Shape:
    """The columns of a file, as they come to light piece by piece, and what its rows and bytes add
    up to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.schema = self.last = pa.schema([])  # of all pieces so far, and of the last one
        self.width = self.rows = self.bytes = 0  # the width counts columns inside of others, too
        self.long: set[_digits.Path] = set()  # where integers are beyond 64 bits

    def add(self, lines: bytes, table: pa.Table) -> None:
        """Take in one piece: a key that comes late is not lost, and a type may widen."""
        if _digits.may_be_rounded(table):
            self.long |= _digits.long_integers(lines)
        if not table.schema.equals(self.last):
            self._widen(table.schema)
        self.rows, self.bytes = self.rows + table.num_rows, self.bytes + len(lines)
        if self.rows * self.width > max(CELLS, SPARSE * self.bytes):
            raise DataError(
                f"{self.path.name}: {self.rows:,} lines with {self.width:,} different keys make"
                f" {self.rows * self.width:,} cells, nearly all of them empty; write keys that"
                ' differ from line to line as a list, such as [{"key": …, "value": …}]'
            )

    def _widen(self, schema: pa.Schema) -> None:
        self.last = schema
        try:
            self.schema = pa.unify_schemas(
                [self.schema, _without_dates(schema)], promote_options="permissive"
            )
        except pa.ArrowException as error:
            raise json_fault(self.path) or DataError(f"{self.path.name}: {error}") from error
        self.width = sum(_leaves(field.type) for field in self.schema)
        require_columns(self.path, self.width)

    @property
    def final(self) -> pa.Schema:
        """The schema of all pieces, once they are all known; a column without a value is one of
        strings.
        """
        schema = pa.schema(
            [field.with_type(_strings(field.type, pa.types.is_null)) for field in self.schema]
        )
        return _digits.as_text(schema, self.long)


def jsonl(path: Path) -> pa.Table:
    """The whole file. A fault is an error that names file and line."""
    _refuse_array(path)
    shape, tables = Shape(path), []
    for piece, table in _parsed(path):
        tables.append(table)
        shape.add(piece, table)
    final = shape.final
    if any(not table.schema.equals(final) for table in tables):
        known = zip(_pieces(path), tables)
        tables = [
            table if table.schema.equals(final) else _again(path, piece, shape)
            for piece, table in known
        ]
    return pa.concat_tables(tables) if tables else final.empty_table()


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The file in pieces, in constant memory.

    It is read twice: a first pass settles the columns and their types, so that a key which comes
    late is not lost.
    """
    _refuse_array(path)
    shape = Shape(path)
    for piece, table in _parsed(path):
        shape.add(piece, table)
    for piece in _pieces(path, shape.width):
        yield from _again(path, piece, shape).to_batches()


def _parsed(path: Path) -> Iterator[tuple[bytes, pa.Table]]:
    """Each piece with its rows, in order; a few are parsed at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        under_way: deque[tuple[bytes, Future[pa.Table]]] = deque()
        try:
            for piece in _pieces(path):
                under_way.append((piece, pool.submit(_parse, path, piece)))
                if len(under_way) > AT_ONCE:
                    first, table = under_way.popleft()
                    yield first, table.result()
            for piece, table in under_way:
                yield piece, table.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _again(path: Path, lines: bytes, shape: Shape) -> pa.Table:
    """Lines that were parsed before, with the columns and types of the whole file."""
    return _digits.parsed(lines, shape.final) if shape.long else _arrow(path, lines, shape.final)


def _parse(path: Path, lines: bytes) -> pa.Table:
    """Lines that nobody has looked at yet; what would kill the fast reader is an error before."""
    values = np.frombuffer(lines, np.uint8)
    starts = line_starts(values)
    # a bare `null` would end the process
    opens = np.isin(values[starts], np.frombuffer(b"{\r\n", np.uint8))
    if not opens.all() or too_deep(values, starts, DEPTH):
        fault = json_fault(path)
        if fault is not None:
            raise fault
    return _arrow(path, lines, None)


def _arrow(path: Path, lines: bytes, schema: pa.Schema | None) -> pa.Table:
    try:
        table = arrow_json.read_json(
            pa.BufferReader(lines),
            arrow_json.ReadOptions(block_size=len(lines), use_threads=False),
            arrow_json.ParseOptions(explicit_schema=schema),
        )
        # The fast reader lets broken UTF-8 through: in values this finds it, in names the next
        # line.
        table.validate(full=True)
        return table.select(table.column_names)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise json_fault(path) or DataError(f"{path.name}: {error}") from error


def _without_dates(schema: pa.Schema) -> pa.Schema:
    # The fast reader takes strings such as "2024-01-31" for dates.
    return pa.schema(
        [field.with_type(_strings(field.type, pa.types.is_timestamp)) for field in schema]
    )


def _strings(kind: pa.DataType, replaced: Callable[[pa.DataType], bool]) -> pa.DataType:
    """The type with strings in the place of some types, at any depth."""
    if pa.types.is_list(kind):
        return pa.list_(_strings(kind.value_type, replaced))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_strings(field.type, replaced)) for field in kind])
    return pa.string() if replaced(kind) else kind


def _leaves(kind: pa.DataType) -> int:
    if pa.types.is_struct(kind):
        return sum(_leaves(field.type) for field in kind)
    return _leaves(kind.value_type) if pa.types.is_list(kind) else 1


def _pieces(path: Path, width: int | None = None) -> Iterator[bytes]:
    """The lines of a file, as many at a time as make a table of bounded size, whatever keys they
    have.
    """
    for lines in line_blocks(path, JSON_BLOCK):
        yield from _halved(lines, width)


def _halved(lines: bytes, width: int | None) -> Iterator[bytes]:
    """Lines in halves, and these in halves, until they make few cells, be every key a column of its
    own.
    """
    rows = count_byte(lines, ord("\n")) + 1
    columns = count_byte(lines, ord(":")) if width is None else width
    if width is None and rows * columns > CELLS:
        columns = min(columns, count_byte(lines, ord('"')) // 2)  # colons stand in texts, too
    middle = lines.rfind(b"\n", 0, len(lines) // 2) + 1 or lines.find(b"\n") + 1
    if rows * columns <= CELLS or middle in (0, len(lines)):
        yield lines
        return
    for half in (lines[:middle], lines[middle:]):
        if not half.isspace():
            yield from _halved(half, width)


def _refuse_array(path: Path) -> None:
    if head(path).lstrip().startswith("["):
        raise DataError(
            f"{path.name}, line 1: a list, expected one object a line; convert it: jq -c '.[]'"
            f" {path.name}"
        )


class JSONLines(Reader):
    """JSON lines."""

    suffixes = (".jsonl", ".ndjson", ".json")
    read = staticmethod(jsonl)
    batches = staticmethod(batches)


PART = JSONLines
