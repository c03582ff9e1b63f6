"""JSON lines: one object a line, its keys the columns; a missing key is null. Strings stay strings, dates too."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from tagwright.errors import DataError
from tagwright.read._bytes import BLOCK, STREAM_BLOCK, UTF8_MARK, head, load, open_bytes
from tagwright.read._faults import json_fault
from tagwright.read._reader import Reader


def jsonl(path: Path) -> pa.Table:
    """The whole file. A fault is an error that names file and line."""
    _refuse_array(path)
    content = load(path)
    table = _parse(path, content, None)
    schema = _as_written(table.schema)
    return table if schema.equals(table.schema) else _parse(path, content, schema)


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The file in pieces, in constant memory.

    It is read twice: a first pass settles the columns and their types, so that a key which comes late is not lost.
    """
    _refuse_array(path)
    schema = pa.schema([])
    for block in _blocks(path):
        found = _as_written(_parse(path, pa.py_buffer(block), None).schema)
        try:
            schema = pa.unify_schemas([schema, found], promote_options="permissive")
        except pa.ArrowException as error:
            raise json_fault(path) or DataError(f"{path.name}: {error}") from error
    for block in _blocks(path):
        yield from _parse(path, pa.py_buffer(block), schema).to_batches()


def _parse(path: Path, content: pa.Buffer, schema: pa.Schema | None) -> pa.Table:
    if not _lines_open(content):
        fault = json_fault(path)
        if fault is not None:
            raise fault
    try:
        table = arrow_json.read_json(
            pa.BufferReader(content),
            arrow_json.ReadOptions(block_size=BLOCK),
            arrow_json.ParseOptions(explicit_schema=schema),
        )
        # The fast reader lets broken UTF-8 through: in values this finds it, in names the next line.
        table.validate(full=True)
        return table.select(table.column_names)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise json_fault(path) or DataError(f"{path.name}: {error}") from error


def _lines_open(content: pa.Buffer) -> bool:
    """Whether every line is blank or starts with a brace; a bare `null` that starts a block kills the fast reader."""
    values = np.frombuffer(content, np.uint8)
    starts = values[np.append(0, np.flatnonzero(values[:-1] == ord("\n")) + 1)]
    return bool(np.isin(starts, np.frombuffer(b"{\r\n", np.uint8)).all())


def _as_written(schema: pa.Schema) -> pa.Schema:
    # The fast reader takes strings such as "2024-01-31" for dates; a column of nulls may hold strings elsewhere.
    return pa.schema([field.with_type(_string_type(field.type)) for field in schema])


def _string_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) or pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_string_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_string_type(field.type)) for field in kind])
    return kind


def _blocks(path: Path) -> Iterator[bytes]:
    with open_bytes(path) as stream:
        rest = b""
        while block := stream.read(STREAM_BLOCK):
            whole, _, tail = (rest + block).rpartition(b"\n")
            rest = tail
            if whole.strip():
                yield whole.removeprefix(UTF8_MARK)
        if rest.strip():
            yield rest.removeprefix(UTF8_MARK)


def _refuse_array(path: Path) -> None:
    if head(path).lstrip().startswith("["):
        raise DataError(f"{path.name}, line 1: a list, expected one object a line; convert it: jq -c '.[]' {path.name}")


class JSONLines(Reader):
    """JSON lines."""

    suffixes = (".jsonl", ".ndjson", ".json")
    read = staticmethod(jsonl)
    batches = staticmethod(batches)


PART = JSONLines
