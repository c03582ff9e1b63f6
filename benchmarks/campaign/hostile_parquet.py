"""Hostile Parquet files: bombs, lies, types that nobody expects."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaign.hostile import LABELS, TEXT, Hostile


def _written(**columns: Any) -> Callable[[Path], object]:
    """A Parquet file of these columns beside text and labels."""

    def write(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        made = {name: make(pa) if callable(make) else make for name, make in columns.items()}
        rows = len(next(iter(made.values())))
        sound = {
            "text": [f"{TEXT} {n}" for n in range(rows)],
            "labels": [LABELS[n % 2] for n in range(rows)],
        }
        parquet.write_table(pa.table({**sound, **made}), path, compression="zstd")

    return write


def _bomb(
    *, rows: int, size: int, plain: bool = False, lists: int = 0, of: str = "unused"
) -> Callable[[Path], object]:
    """Every row has the one value of a dictionary; with `lists`, so often."""

    def write(path: Path) -> None:
        import numpy as np
        import pyarrow as pa
        from pyarrow import parquet

        one = pa.array(["w" * size])
        values = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(rows * max(lists, 1), np.int32)), one
        )
        values = values.cast(pa.string()) if plain else values
        ends = pa.array(np.arange(rows + 1, dtype=np.int32) * lists)
        columns = {"text": pa.array(["x"] * rows), "labels": pa.array(["a", "b"] * (rows // 2))}
        columns[of] = pa.ListArray.from_arrays(ends, values.cast(pa.string())) if lists else values
        parquet.write_table(pa.table(columns), path, compression="zstd")

    return write


def _broken(
    seed: int, edit: Callable[[bytearray, random.Random], object]
) -> Callable[[Path], object]:
    """A sound Parquet file after an edit of its bytes."""

    def write(path: Path) -> None:
        _written(n=list(range(200)))(path)
        content = bytearray(path.read_bytes())
        edit(content, random.Random(seed))
        path.write_bytes(content)

    return write


def _flip(content: bytearray, draw: random.Random) -> None:
    """A few bytes of the metadata are others."""
    size = int.from_bytes(content[-8:-4], "little")
    for _ in range(draw.choice([1, 1, 3])):
        content[-8 - draw.randrange(1, size)] ^= draw.randrange(1, 256)


def _sizes(value: int) -> Callable[[bytearray, random.Random], object]:
    """The size of the metadata is another one."""
    return lambda content, draw: content.__setitem__(slice(-8, -4), value.to_bytes(4, "little"))


def _nested(depth: int) -> Callable[[Any], Any]:
    def make(pa: Any) -> Any:
        value, kind = 1, pa.int8()
        for _ in range(depth):
            value, kind = [value], pa.list_(kind)
        return pa.array([value] * 6, kind)

    return make


def _bad_strings(pa: Any) -> Any:
    import numpy as np

    return pa.StringArray.from_buffers(
        6, pa.py_buffer(np.arange(7, dtype=np.int32)), pa.py_buffer(b"ab\xff\xfecd")
    )


def _cases() -> list[Hostile]:
    """Every case."""
    made = {
        "a bomb of a dictionary": _bomb(rows=1_000_000, size=10_000),
        "a bomb of texts": _bomb(rows=200_000, size=10_000, of="text"),
        "a bomb of plain values": _bomb(rows=20_000, size=20_000, plain=True),
        "a bomb of lists": _bomb(rows=2_000, size=2_000, lists=100),
        "a bomb of labels": _bomb(rows=2_000, size=1_000, lists=100, of="labels"),
        "1 million rows": _bomb(rows=1_000_000, size=1),
        "nested 90 levels": _written(unused=_nested(90)),
        "nested 500 levels": _written(unused=_nested(500)),
        "labels nested": _written(labels=_nested(3)),
        "texts that are not UTF-8": _written(text=_bad_strings),
        "labels that are not UTF-8": _written(labels=_bad_strings),
        "other text that is not UTF-8": _written(unused=_bad_strings),
        "texts of bytes": _written(text=lambda pa: pa.array([b"\xff", b"b"] * 3)),
        "labels of bytes": _written(labels=lambda pa: pa.array([b"\xff", b"b"] * 3)),
        "texts of numbers": _written(text=[1.5, float("nan")] * 3),
        "labels of NaN": _written(labels=[float("nan"), float("inf")] * 3),
        "labels of dates": _written(labels=lambda pa: pa.array([0, 10**9] * 3, pa.timestamp("s"))),
        "labels of decimals": _written(
            labels=lambda pa: pa.array([1, 2] * 3).cast(pa.decimal128(38, 0))
        ),
        "texts missing": _written(text=lambda pa: pa.nulls(6, pa.string())),
        "texts of no type": _written(text=lambda pa: pa.nulls(6)),
        "labels of maps": _written(
            labels=lambda pa: pa.array([[("a", 1)]] * 6, pa.map_(pa.string(), pa.int8()))
        ),
        "no rows": _written(text=[]),
        "100,001 columns": lambda path: _written(**{f"c{n}": [1] for n in range(99_999)})(path),
        "a name of escapes": _written(**{"\x1b[31mred": [1, 2]}),
        "cut": _broken(0, lambda content, draw: content.__delitem__(slice(-30, None))),
        "without a start": _broken(0, lambda content, draw: content.__delitem__(slice(0, 100))),
        "metadata of 4 GB": _broken(0, _sizes(2**32 - 1)),
        "metadata of no bytes": _broken(0, _sizes(0)),
        **{f"metadata that lie, {seed}": _broken(seed, _flip) for seed in range(25)},
    }
    return [
        Hostile(what=f"Parquet: {what}", name="a.parquet", write=one) for what, one in made.items()
    ]


CASES = _cases()
