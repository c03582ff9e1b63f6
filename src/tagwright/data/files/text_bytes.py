"""The bytes of a text file: decompressed by suffix, past the byte order mark, free of what no text
file holds.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Bytes, Ints
from tagwright.data.files.faults import text_fault
from tagwright.data.files.limits import ROW, STREAM_BLOCK, Growth, long_row
from tagwright.data.files.opening import open_bytes
from tagwright.errors import DataError

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Checked:
    """The bytes of a text file as they are read. A NUL byte, a line or a growth beyond the limits
    is an error.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.stream, self.growth = path, open_bytes(path), Growth(path)
        self.line = 0  # bytes of the last line so far

    def read(self, size: int) -> bytes:
        """At most `size` bytes more; none at the end."""
        block = self.stream.read(size)
        self.growth.add(len(block))
        end = block.rfind(b"\n") + 1 or block.rfind(b"\r") + 1
        self.line = len(block) - end if end else self.line + len(block)
        if self.line > ROW or b"\0" in block:
            raise text_fault(self.path) or long_row(self.path.name)
        return block


def line_blocks(path: Path, size: int) -> Iterator[bytes]:
    """Whole lines of a text file, some `size` bytes at a time; blocks without a word are left
    out.
    """
    stream, rest, mark = Checked(path), [b""], UTF8_MARK
    while block := stream.read(size):
        end = block.rfind(b"\n") + 1
        if end:
            lines, rest = b"".join([*rest, memoryview(block)[:end]]).removeprefix(mark), []
            mark = b""
            if not lines.isspace():
                yield lines
        rest.append(block[end:])
    lines = b"".join(rest).removeprefix(mark)
    if lines and not lines.isspace():
        yield lines


def load(path: Path) -> pa.Buffer:
    """All bytes, decompressed. An empty file, UTF-16 and NUL bytes are errors."""
    head(path)
    # not a memory map: the system would end the process if the file became shorter
    stream, read, size = Checked(path), np.empty(path.stat().st_size, np.uint8), 0
    while block := stream.read(STREAM_BLOCK):
        if size + len(block) > len(read):
            # takes memory only where it is filled
            larger = np.empty(2 * size + len(block), np.uint8)
            larger[:size] = read[:size]
            read = larger
        read[size : size + len(block)] = np.frombuffer(block, np.uint8)
        size += len(block)
    mark = read[: min(size, 3)].tobytes() == UTF8_MARK
    return pa.py_buffer(read[3 if mark else 0 : size])


def head(path: Path, size: int = 1 << 20) -> str:
    """The first bytes as text, past the mark; broken UTF-8 shows as U+FFFD. Empty and UTF-16 files
    are errors.
    """
    with open_bytes(path) as stream:
        start = stream.read(size)
    if not start.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path.name}: the file is empty; expected a header and rows")
    # where both are NUL, it is no text at all
    halves = [start[place:200:2].count(0) > 50 for place in (0, 1)]
    if start[:2] in UTF16_MARKS or halves[0] != halves[1]:
        raise DataError(
            f"{path.name}: the file is UTF-16; convert it: iconv -f utf-16 -t utf-8 {path.name} >"
            " new-file"
        )
    return start.removeprefix(UTF8_MARK).decode("utf-8", errors="replace")


def count_byte(content: pa.Buffer | bytes, byte: int) -> int:
    """How often a byte occurs, without a copy of the whole."""
    values, step = np.frombuffer(content, np.uint8), STREAM_BLOCK
    return sum(
        int(np.count_nonzero(values[i : i + step] == byte)) for i in range(0, len(values), step)
    )


def count_in_file(path: Path, byte: int) -> int:
    """How often a byte occurs in a file, decompressed."""
    growth, found = Growth(path), 0
    with open_bytes(path) as stream:
        while block := stream.read(1 << 20):
            growth.add(len(block))
            found += count_byte(block, byte)
    return found


def lines(path: Path) -> pa.LargeStringArray:
    """Every line of a file, without its line end. Broken UTF-8 is an error that names the line."""
    content = load(path)
    offsets = _line_offsets(np.frombuffer(content, np.uint8))
    raw = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), content)
    try:
        raw.validate(full=True)
    except pa.ArrowInvalid as error:
        raise text_fault(path) or DataError(f"{path.name}: {error}") from error
    return pc.utf8_rtrim(raw, "\r\n")


def _line_offsets(values: Bytes) -> Ints:
    """Where each line of the bytes (N,) begins, and where the last one ends, int64; no byte is one
    line.
    """
    step = STREAM_BLOCK  # what fits into a processor's cache
    ends = [
        np.flatnonzero(values[start : start + step] == ord("\n")) + start + 1
        for start in range(0, len(values), step)
    ]
    offsets = np.concatenate([[0], *ends]).astype(np.int64)
    if len(offsets) == 1 or offsets[-1] < len(values):
        offsets = np.append(offsets, len(values))
    return offsets
