"""Files that are whole or not there: written aside, synced, renamed. A disk that takes no more is
told by the file. Beside them: values as JSON, and folders that swap their places.
"""

import ctypes
import errno
import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, overload

import numpy as np

from tagwright.errors import WriteError

T = TypeVar("T")
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_ROOM = FULL | {errno.EROFS, errno.EFBIG}  # happens to writers alone
HERE = -100  # AT_FDCWD: a relative path starts in the working folder
EXCHANGE = 2  # RENAME_EXCHANGE in linux/fs.h, RENAME_SWAP in sys/stdio.h
CODE = re.compile(r"\(os error (\d+)\)")  # how safetensors tells the system's number


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Gives a path beside `path` to write; leaving the block makes it `path`. After a failure the
    old file stands.

    What is no file, such as a pipe, cannot be replaced: it is written as it is.
    """
    if path.exists() and not path.is_file():
        with writing(path):
            yield path
        return
    path = Path(os.path.realpath(path))  # a link stays, and the file that it names is replaced
    # the same each time, so that what a kill leaves does not pile up
    aside = path.with_name(f".{path.name}.part")
    try:
        with writing(path):
            yield aside
            _synced(aside)
            aside.replace(path)
            sync_folder(path.parent)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    r"""Write a text file. File names that are not UTF-8 are written as escapes, such as \udcff."""
    with replaced(path) as aside:
        aside.write_text(text, encoding="utf-8", errors="backslashreplace")


def write_json(path: Path, content: object) -> None:
    """Write a value as a JSON file."""
    write_text(path, json.dumps(content))


def write_readable_json(path: Path, content: Mapping[str, object]) -> None:
    """Write values as a JSON file for people to read, in a folder that is not in place yet."""
    path.write_text(
        json.dumps(json_ready(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


@overload
def json_ready(value: Mapping[str, object]) -> dict[str, object]: ...
@overload
def json_ready(value: object) -> object: ...
def json_ready(value: object) -> object:
    """Nested values that JSON can hold: lists for tuples and arrays, Python numbers for NumPy's,
    None for numbers that are not finite.

    >>> json_ready({"a": (1, float("nan")), "b": np.float32(0.5)})
    {'a': [1, None], 'b': 0.5}
    """
    if isinstance(value, Mapping):
        return {key: json_ready(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def value_of(content: Mapping[str, object], name: str, kind: type[T]) -> T:
    """The value of this name as JSON or TOML gave it, which must be of this very type. A float must
    be finite.

    >>> value_of({"limit": 3}, "limit", float)
    3.0
    """
    value = content[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name} must be of type {kind.__name__}, got {value!r}")
    return value


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file, on the disk when this returns; a failure leaves the file as it
    was.
    """
    with writing(path), path.open("ab", buffering=0) as file:
        size = file.tell()
        try:
            left = memoryview(content)
            while left:  # a disk that is nearly full takes a part, and refuses the rest
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(size)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What goes wrong inside because the disk takes no more is one error that names `path`."""
    try:
        yield
    except WriteError:
        raise
    except Exception as error:
        code = _code(error)
        if code not in NO_ROOM:
            raise
        reason, cure = os.strerror(code), "; free some space and go on" if code in FULL else ""
        raise WriteError(f"cannot write {path}: {reason[:1].lower()}{reason[1:]}{cure}") from error


def sync_folder(path: Path) -> None:
    """Put the names in a folder on the disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened, and a rename is durable by itself
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def exchanged(one: Path, other: Path) -> bool:
    """Swap two folders in one step: there is no moment without either. False if nothing happened,
    because the system or the file system cannot.

    Linux has `renameat2` with RENAME_EXCHANGE, macOS `renamex_np` with RENAME_SWAP.
    """
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    swap = getattr(ctypes.CDLL(None), name, None) if name is not None else None
    if swap is None:
        return False
    paths = (os.fsencode(one), os.fsencode(other))
    if sys.platform == "darwin":
        return int(swap(*paths, EXCHANGE)) == 0
    return int(swap(HERE, paths[0], HERE, paths[1], EXCHANGE)) == 0


def named(folder: Path) -> Path:
    """The same folder by a path that ends in its name, also where it is `.` or `..`."""
    return Path(os.path.abspath(folder)) if folder.name in ("", "..") else folder


def followed(folder: Path) -> Path:
    """The same folder by a path that ends in its name; the folder that a link leads to."""
    folder = named(folder)
    return Path(os.path.realpath(folder)) if folder.is_symlink() else folder


def left_over(folder: Path) -> Path:
    """Where the old folder is between the two renames of a writer, on systems that cannot swap
    folders.
    """
    return folder.with_name(f".{folder.name}.old")


def _synced(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _code(error: Exception) -> int | None:
    """The system's number of an error, also where a library tells it in words."""
    if isinstance(error, OSError):
        # numpy counts what was written and gives no number
        return (
            errno.ENOSPC if error.errno is None and " requested and " in str(error) else error.errno
        )
    found = CODE.search(str(error))
    return int(found[1]) if found else None
