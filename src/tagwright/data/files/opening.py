"""Opens data files: under any name, decompressed by suffix, and nothing that is no file."""

import os
from pathlib import Path

import pyarrow as pa

from tagwright.errors import DataError

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


def require_file(path: Path) -> None:
    """Refuse what is not a file. A file is read more than once, which a pipe does not allow."""
    if path.is_file():
        return
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_dir():
        raise DataError(f"{path}: a folder, expected a file")
    raise DataError(
        f"{path}: a pipe or a device, expected a file, because it is read more than once; save its"
        " content to a file and name that"
    )


def open_raw(path: Path) -> pa.NativeFile:
    """The bytes of the file as they are stored. Arrow takes names that are not UTF-8 as bytes
    only.
    """
    return pa.OSFile(os.fsencode(path))


def open_bytes(path: Path) -> pa.NativeFile:
    """The file as a stream of bytes, decompressed if its suffix says so."""
    codec = COMPRESSED.get(path.suffix.lower())
    return open_raw(path) if codec is None else pa.CompressedInputStream(open_raw(path), codec)
