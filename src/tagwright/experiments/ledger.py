"""Finished runs in a file of JSON lines: each is there as soon as it ended, whatever happens
next.
"""

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from os import SEEK_END
from pathlib import Path
from typing import Any

import numpy as np

from tagwright.storage.files import append, json_ready, sync_folder, writing


class Ledger:
    """Rows by their key, which tells data and settings of a run; of several with one key the last
    counts.

    A line that a kill tore is said, and its run made again.
    """

    def __init__(self, path: Path, say: Callable[[str], None] = lambda text: None) -> None:
        self.path, self.rows = path, dict[str, dict[str, Any]]()
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        for number, line in ((number, line) for number, line in enumerate(lines, start=1) if line):
            try:
                row = json.loads(line)
                self.rows[row["key"]] = current(row)
            except (ValueError, TypeError, KeyError):
                say(f"{path.name}, line {number} is torn; its run is made again")

    def begin(self) -> None:
        """Make the file: it tells the folder for ours from the first run on, however that ends."""
        if self.path.exists():
            return
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
            sync_folder(self.path.parent)

    def add(self, row: dict[str, Any]) -> None:
        """Write one row, on the disk when this returns."""
        self.begin()
        # a file name that is not UTF-8 becomes a JSON escape, such as \udcff
        text = json.dumps(json_ready(row), ensure_ascii=False) + "\n"
        line = text.encode(errors="backslashreplace")
        append(self.path, line if _whole(self.path) else b"\n" + line)
        self.rows[row["key"]] = row

    def finished(self, key: str) -> dict[str, Any] | None:
        """The row of a run that ended well."""
        row = self.rows.get(key)
        return None if row is None or "failed" in row else row


def current(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of any version as rows are now: metrics of the part `on` are `scored`.

    Earlier rows had them as "test", also where dev was scored; there they equal the metrics of
    "dev".

    >>> current({"key": "k", "dev": {"lrap": 0.5}, "test": {"lrap": 0.4}})
    {'key': 'k', 'dev': {'lrap': 0.5}, 'scored': {'lrap': 0.4}, 'on': 'test'}
    """
    if "test" not in row:
        return dict(row)
    on = "dev" if row["test"] == row.get("dev") else "test"
    return {name: value for name, value in row.items() if name != "test"} | {
        "scored": row["test"],
        "on": on,
    }


def packed(values: np.ndarray) -> str:
    """Yes or no for each of n texts, as text: a bit each.

    >>> unpacked(packed(np.array([True, False, True])), 3)
    array([ True, False,  True])
    """
    return base64.b64encode(np.packbits(values).tobytes()).decode()


def unpacked(text: str, count: int) -> np.ndarray:
    """The n values again, bool (n,)."""
    return np.unpackbits(np.frombuffer(base64.b64decode(text), np.uint8), count=count).astype(bool)


def packed_bits(values: np.ndarray) -> str:
    """Yes or no for each of n texts and L labels, as text: a bit each, compressed, for most are no.

    >>> unpacked_bits(packed_bits(np.array([[True, False], [False, True]])), 2, 2)
    array([[ True, False],
           [False,  True]])
    """
    return base64.b64encode(zlib.compress(np.packbits(values).tobytes())).decode()


def unpacked_bits(text: str, rows: int, columns: int) -> np.ndarray:
    """The values again, bool (n, L)."""
    bits = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.unpackbits(bits, count=rows * columns).astype(bool).reshape(rows, columns)


def packed_values(values: np.ndarray) -> str:
    """A number for each of n texts, as text: float32, compressed.

    >>> unpacked_values(packed_values(np.array([0.5, 2.0])))
    array([0.5, 2. ], dtype=float32)
    """
    return base64.b64encode(zlib.compress(values.astype("<f4").tobytes())).decode()


def unpacked_values(text: str) -> np.ndarray:
    """The values again, (n,)."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<f4")


def _whole(path: Path) -> bool:
    """Whether the last line of a file has its end."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, SEEK_END) - 1, 0))
        return file.read(1) in (b"", b"\n")
