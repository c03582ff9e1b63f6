"""Reading files that somebody else may have made: no link, no pipe, no device, no more bytes than
belong there.

Whatever goes wrong is a `ModelError` that names the file.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NoReturn

from tagwright.errors import ModelError

SMALL = 4 * 2**20  # bytes of a small file
REASON = 300  # letters of what another library says
CURE = "restore it, or make the folder anew"


@contextmanager
def readable(path: Path | str) -> Iterator[None]:
    """Make one error, which names the file, of whatever trips over its content inside the block."""
    try:
        yield
    except ModelError:
        raise
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # any library, in any way
        raise ModelError(
            f"{path} is not as Tagwright writes it ({reason_of(error)}); {CURE}"
        ) from error


def reason_of(error: Exception) -> str:
    """The first line of what an error says, in short.

    >>> reason_of(KeyError("names"))
    "'names' is missing"
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    lines = str(error).strip().splitlines()
    said = lines[0] if lines else type(error).__name__
    said = f"{said} is missing" if isinstance(error, KeyError) else said
    return said if len(said) <= REASON else f"{said[:REASON]}…"


def regular_file(path: str, files: ExitStack) -> BufferedReader:
    """A file that is open for reading until `files` are closed. One that is not there is a
    FileNotFoundError.
    """
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):
            what = "a link" if stat.S_ISLNK(mode) else "not a regular file"
            raise ModelError(f"{path} is {what}; put the file itself there")
        return files.enter_context(open(path, "rb"))
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error


def content_of(file: BufferedReader, *, most: int = SMALL) -> bytes:
    """All of an open file; one with more bytes than `most` is an error, and is not read."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise ModelError(
            f"{file.name} has {size:,} bytes, and no more than {max(most, 0):,} belong there;"
            f" {CURE}"
        )
    with readable(file.name):
        return file.read(size)


def read_small(path: Path) -> bytes:
    """The content of a small file. One that is not there is a FileNotFoundError."""
    with ExitStack() as files:
        return content_of(regular_file(str(path), files))


def json_object(content: bytes | str) -> dict[str, object]:
    """The object in a JSON text, whose strings can be written as UTF-8.

    >>> json_object('{"a": 1}')
    {'a': 1}
    """
    # json itself lets half characters pass
    text = content if isinstance(content, str) else content.decode("utf-8")
    found = json.loads(text, parse_constant=_refused)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, got {type(found).__name__}")
    if "\\u" in text:
        _require_whole_characters(found)
    return found


def _require_whole_characters(found: dict[str, object]) -> None:
    """Refuse half of a surrogate pair, which JSON can escape and no file or terminal can show."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("it has half of a surrogate pair (\\ud800 to \\udfff)") from error


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")
