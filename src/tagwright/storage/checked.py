"""Files and folders that somebody else may have made: what is read of them was checked.

No link, no pipe and no device is read, and no more bytes than belong there. Whatever goes wrong is
a `ModelError` that names the file.

A sealed folder has a manifest that lists its files with digests, and no other file is read. It may
be replaced while it is read. So every file is opened once: small ones are read into memory, weights
are read through the file that stays open. If another folder is there by then, reading starts anew.
A reader moves nothing.
"""

import hashlib
import json
import math
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import NoReturn, Required, TypedDict, TypeVar, cast

from tagwright.errors import ModelError
from tagwright.storage.files import followed, left_over

MANIFEST = "manifest.json"
TENSORS = ".safetensors"
SMALL = 4 * 2**20  # bytes of a small file
SHARE = 4  # bytes of files without tensors, for each byte of files with tensors
ATTEMPTS = 1000  # at a folder that is replaced again and again
REASON = 300  # letters of what another library says
CURE = "restore it, or make the folder anew"
T = TypeVar("T")


class Manifest(TypedDict, total=False):
    """What a folder says of itself. Who opens it has seen digests; the rest a reader of its kind
    checks.
    """

    sha256: Required[dict[str, str]]  # digest of every file
    format: int  # of a model's folder
    heads: list[str]
    packages: dict[str, str]  # those of parts that are not ours
    fingerprint: str  # of a checkpoint: the data and settings that it belongs to


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """The files that a manifest lists, as they were when the folder was opened.

    `texts` are checked already. Files with tensors are open, and are checked by `check`.
    """

    folder: Path
    manifest: Manifest
    digest: str  # of the manifest
    texts: Mapping[str, bytes]
    tensors: Mapping[str, BufferedReader]

    def text(self, name: str) -> str:
        """The content of a text file."""
        with self.reading(name):
            return self._listed(self.texts, name).decode("utf-8")

    def json(self, name: str) -> dict[str, object]:
        """The object in a JSON file."""
        with self.reading(name):
            return json_object(self._listed(self.texts, name))

    def made(self, name: str, make: Callable[[dict[str, object]], T]) -> T:
        """What `make` makes of the object in a JSON file."""
        content = self.json(name)
        with self.reading(name):
            return make(content)

    def reading(self, name: str) -> AbstractContextManager[None]:
        """Makes one error, which names the file, of what trips over its content inside."""
        return readable(f"{self.folder}/{name}")

    def opened(self, name: str) -> BufferedReader:
        """A file with tensors, before its digest is checked."""
        return self._listed(self.tensors, name)

    def size(self, name: str) -> int:
        """The bytes of a file with tensors."""
        return os.fstat(self.opened(name).fileno()).st_size

    def check(self, name: str) -> None:
        """Refuse a file with tensors that was altered."""
        file = self.opened(name)
        with self.reading(name):
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        _require_same(file.name, digest, self.manifest["sha256"][name])

    def _listed(self, files: Mapping[str, T], name: str) -> T:
        if name not in files:
            raise ModelError(
                f"{self.folder / MANIFEST} does not list {name}, which belongs there; {CURE}"
            )
        return files[name]


@contextmanager
def opened(folder: Path, *, known: Callable[[str], bool] = lambda name: True) -> Iterator[Sealed]:
    """The files of a folder, all of one moment. A file that is missing, altered or not `known` is
    an error.
    """
    folder = followed(folder)
    with ExitStack() as files:
        yield _settled(folder, known, files)


def verified(folder: Path) -> Manifest:
    """The manifest, after every file that it lists was found unaltered; others are ignored."""
    with opened(folder) as files:
        for name in files.tensors:
            files.check(name)
        return files.manifest


def read_manifest(folder: Path) -> tuple[Manifest, bytes]:
    """The manifest of a folder, and its bytes; no file that it lists is looked at."""
    path = folder / MANIFEST
    try:
        content = read_small(path)
    except FileNotFoundError:
        raise ModelError(_no_manifest(folder)) from None
    try:
        found = json_object(content)
        if not isinstance(found["sha256"], dict):
            raise ValueError("sha256 must be an object of names and digests")
    except (ValueError, KeyError, RecursionError) as error:
        raise ModelError(f"{path} is no manifest of ours: {reason_of(error)}") from None
    return cast(Manifest, found), content


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
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:  # no file or terminal can show half of a pair
            raise ValueError("it has half of a surrogate pair (\\ud800 to \\udfff)") from error
    return found


def read_small(path: Path) -> bytes:
    """The content of a small file. One that is not there is a FileNotFoundError."""
    with ExitStack() as files:
        return content_of(regular_file(str(path), files))


def regular_file(path: str, files: ExitStack) -> BufferedReader:
    """A file, open until `files` are closed. One that is not there is a FileNotFoundError."""
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


def _settled(folder: Path, known: Callable[[str], bool], files: ExitStack) -> Sealed:
    """The files of one folder, which was not replaced while they were opened."""
    for _ in range(ATTEMPTS):
        with ExitStack() as tried:
            place, mark = _place(folder, tried)
            found: Sealed | ModelError
            try:
                with readable(place / MANIFEST):
                    found = _read(place, known, tried)
            except ModelError as error:
                found = error
            there, other = _place(folder, tried)
            if there != place or not os.path.samestat(mark, other):
                continue
            if isinstance(found, ModelError):
                raise found
            files.enter_context(tried.pop_all())
            return found
    raise ModelError(
        f"{folder} is replaced again and again; read it when no other process writes it"
    )


def _place(folder: Path, held: ExitStack) -> tuple[Path, os.stat_result]:
    """The folder, or its old one while a writer has moved that away; and what tells it from others
    as long as it is held."""
    for path in (folder, left_over(folder), folder):
        try:
            return path, _mark(path, held)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            break
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    raise ModelError(_no_manifest(folder))


def _mark(path: Path, held: ExitStack) -> os.stat_result:
    # elsewhere a folder cannot be opened, nor moved while a file in it is open
    if os.name != "posix":
        return path.stat()
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    held.callback(os.close, handle)
    return os.fstat(handle)


def _read(folder: Path, known: Callable[[str], bool], files: ExitStack) -> Sealed:
    manifest, content = read_manifest(folder)
    digests = manifest["sha256"]
    _require_names(folder, digests, known)
    tensors = {
        name: _listed(f"{folder}/{name}", files) for name in digests if name.endswith(TENSORS)
    }
    room = SMALL + SHARE * sum(os.fstat(file.fileno()).st_size for file in tensors.values())
    texts: dict[str, bytes] = {}
    for name in digests.keys() - tensors.keys():
        with ExitStack() as one:
            texts[name] = content_of(_listed(f"{folder}/{name}", one), most=room)
        room -= len(texts[name])
        _require_same(f"{folder}/{name}", hashlib.sha256(texts[name]).hexdigest(), digests[name])
    digest = hashlib.sha256(content).hexdigest()
    return Sealed(folder=folder, manifest=manifest, digest=digest, texts=texts, tensors=tensors)


def _no_manifest(folder: Path) -> str:
    if folder.exists():
        return f"{folder} has no {MANIFEST}; it is no folder of ours, or only part of one"
    return f"{folder} is not there"


def _require_names(folder: Path, names: Mapping[str, object], known: Callable[[str], bool]) -> None:
    """Refuse names that lead out of the folder, and those that no folder of its kind has."""
    for name in names:
        inside = not set(name) & set("\\:\0") and not {"", ".", ".."} & set(name.split("/"))
        if not inside or not known(name):
            what = "is not a file of such a folder" if inside else "is not a path inside the folder"
            raise ModelError(f"{folder / MANIFEST} lists {name[:REASON]!r}, which {what}; {CURE}")
    for parent in {
        name[:place] for name in names for place, letter in enumerate(name) if letter == "/"
    }:
        if os.path.islink(f"{folder}/{parent}"):
            raise ModelError(f"{folder}/{parent} is a link; put the folder itself there")


def _listed(path: str, files: ExitStack) -> BufferedReader:
    try:
        return regular_file(path, files)
    except FileNotFoundError:
        raise ModelError(f"{path} is missing; it was there when the folder was written") from None


def _require_same(path: str, digest: str, listed: object) -> None:
    if digest != listed:
        raise ModelError(f"{path} was altered since it was written; {CURE}")


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")


def value_of(content: Mapping[str, object], name: str, kind: type[T]) -> T:
    """The value of this name as JSON or TOML gave it, which must be of this very type. A float must
    be finite.

    >>> value_of({"limit": 3}, "limit", float)
    3.0
    """
    value = content[name]
    if kind is float and type(value) is int:
        value = float(value)
    right = type(value) is kind and not (isinstance(value, float) and not math.isfinite(value))
    if not right or not isinstance(value, kind):
        raise ValueError(f"{name} must be of type {kind.__name__}, got {value!r}")
    return value
