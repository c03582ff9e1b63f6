"""The bytes of a text file: decompressed by suffix, past the byte order mark, free of what no text file holds."""

from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.errors import DataError
from tagwright.read._faults import text_fault

BLOCK = 1 << 24  # bytes read at a time; a row longer than this is refused
STREAM_BLOCK = 1 << 22  # the same for streams, where some forty blocks may be under way
COMPRESSED = (".gz", ".bz2", ".zst")
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def open_bytes(path: Path) -> BinaryIO:
    """The file as a stream of bytes, decompressed when its suffix says so."""
    return cast(BinaryIO, pa.input_stream(str(path), compression="detect"))


def load(path: Path) -> pa.Buffer:
    """All bytes, memory-mapped where not compressed. An empty file, UTF-16 and NUL bytes are errors."""
    head(path)
    if path.suffix.lower() in COMPRESSED:
        with open_bytes(path) as stream:
            content = pa.py_buffer(stream.read())
    else:
        content = pa.memory_map(str(path)).read_buffer()
    if content.slice(0, 3).to_pybytes() == UTF8_MARK:
        content = content.slice(3)
    if count_byte(content, 0):
        raise text_fault(path) or DataError(f"{path.name}: holds NUL bytes; is it a text file?")
    return content


def head(path: Path, size: int = 1 << 20) -> str:
    """The first bytes as text, past the mark; broken UTF-8 shows as U+FFFD. Empty and UTF-16 files are errors."""
    with open_bytes(path) as stream:
        start = stream.read(size)
    if not start.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path.name}: the file is empty; expected a header and rows")
    if start[:2] in UTF16_MARKS or start[1:200:2].count(0) > 50 or start[0:200:2].count(0) > 50:
        raise DataError(f"{path.name}: the file is UTF-16; convert it: iconv -f utf-16 -t utf-8 {path.name} > new-file")
    return start.removeprefix(UTF8_MARK).decode("utf-8", errors="replace")


def count_byte(content: pa.Buffer, byte: int) -> int:
    """How often a byte occurs, without a copy of the whole."""
    values = np.frombuffer(content, np.uint8)
    return sum(int(np.count_nonzero(values[i : i + BLOCK] == byte)) for i in range(0, len(values), BLOCK))


def lines(path: Path) -> pa.LargeStringArray:
    """Every line of a file, without its line end. Broken UTF-8 is an error that names the line."""
    content = load(path)
    values = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(values == ord("\n")) + 1
    if not len(ends) or ends[-1] < len(values):
        ends = np.append(ends, len(values))
    offsets = pa.py_buffer(np.concatenate([[0], ends]).astype(np.int64))
    raw = pa.LargeStringArray.from_buffers(len(ends), offsets, content)
    try:
        raw.validate(full=True)
    except pa.ArrowInvalid as error:
        raise text_fault(path) or DataError(f"{path.name}: {error}") from error
    return pc.utf8_rtrim(raw, "\r\n")
