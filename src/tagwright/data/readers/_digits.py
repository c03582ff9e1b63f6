"""JSON integers beyond 64 bits: the columns that hold some become text, so that every digit stays.

The fast reader rounds them to floats. A second, slower reader takes over where it has met any.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

LEAST, MOST = -(2**63), 2**63 - 1
ITEM = "[]"  # stands in a path for the items of a list

Path = tuple[str, ...]  # the keys that lead to a value


class Number(str):
    """A number as it is written."""


def may_be_rounded(table: pa.Table) -> bool:
    """Whether a table has floats as large as integers beyond 64 bits, at any depth."""
    kinds = enumerate(table.schema.types)
    return any(
        _has_large(table.column(place))
        for place, kind in kinds
        if kind != pa.string() and kind != pa.int64()
    )


def _has_large(column: pa.ChunkedArray | pa.Array) -> bool:
    kind = column.type
    if pa.types.is_floating(kind):
        return bool(pc.any(pc.greater_equal(pc.abs(column), float(MOST))).as_py())
    if pa.types.is_struct(kind):
        return any(map(_has_large, column.flatten()))
    return pa.types.is_list(kind) and _has_large(pc.list_flatten(column))


def long_integers(lines: bytes) -> set[Path]:
    """The paths that lead to integers beyond 64 bits."""
    return {path for row in _rows(lines) for path in _long_in(row, ())}


def as_text(schema: pa.Schema, paths: Iterable[Path]) -> pa.Schema:
    """The schema with strings at the end of these paths."""
    for path in paths:
        place = schema.get_field_index(path[0])
        schema = schema.set(
            place, schema.field(place).with_type(_replaced(schema.field(place).type, path[1:]))
        )
    return schema


def parsed(lines: bytes, schema: pa.Schema) -> pa.Table:
    """The lines as a table of this schema; numbers are as written where it wants strings."""
    kind = pa.struct(list(schema))
    return pa.Table.from_pylist([_typed(row, kind) for row in _rows(lines)], schema=schema)


def _rows(lines: bytes) -> Iterator[dict[str, Any]]:
    for line in lines.splitlines():
        if line.strip():
            yield json.loads(line, parse_int=Number, parse_float=float)


def _long_in(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, Number):
        # No integer of 18 characters is too large; Python turns very long ones into numbers slowly,
        # or not at all.
        if len(value) > 18 and (len(value) > 20 or not LEAST <= int(value) <= MOST):
            yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _long_in(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from _long_in(item, (*path, ITEM))


def _replaced(kind: pa.DataType, path: Path) -> pa.DataType:
    if not path:
        return pa.string()
    if path[0] == ITEM and pa.types.is_list(kind):
        return pa.list_(_replaced(kind.value_type, path[1:]))
    place = kind.get_field_index(path[0])
    fields = list(kind)
    fields[place] = fields[place].with_type(_replaced(fields[place].type, path[1:]))
    return pa.struct(fields)


def _typed(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, dict):
        return {field.name: _typed(value.get(field.name), field.type) for field in kind}
    if isinstance(value, list):
        return [_typed(item, kind.value_type) for item in value]
    if isinstance(value, Number):
        if pa.types.is_string(kind):
            return str(value)
        return int(value) if pa.types.is_integer(kind) else float(value)
    return value
