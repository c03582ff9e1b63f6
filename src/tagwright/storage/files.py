"""Files that are whole or not there: written aside, synced, renamed. A disk that takes no more is
told by the file.
"""

import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tagwright.errors import WriteError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_ROOM = FULL | {errno.EROFS, errno.EFBIG}  # happens to writers alone
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
