"""Sealed folders: a manifest lists their files with digests, and only what was checked against it
is read.

A folder may be replaced while it is read. So every file is opened once: small ones are read into
memory, weights are read through the file that stays open. If another folder is there by then,
reading starts anew. A reader moves nothing.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Required, TypedDict, TypeVar, cast

from tagwright.errors import ModelError
from tagwright.storage.untrusted import (
    CURE,
    REASON,
    SMALL,
    content_of,
    json_object,
    read_small,
    readable,
    reason_of,
    regular_file,
)

MANIFEST = "manifest.json"
TENSORS = ".safetensors"
SHARE = 4  # bytes of files without tensors, for each byte of files with tensors
ATTEMPTS = 1000  # at a folder that is replaced again and again
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
        """Makes one error, which names the file, of whatever trips over its content inside the
        block.
        """
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
    """The manifest, after every file that it lists was found unaltered. Files that it does not list
    are ignored.
    """
    with opened(folder) as files:
        for name in files.tensors:
            files.check(name)
        return files.manifest.copy()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; no file that it lists is looked at."""
    return _manifest(folder, _manifest_bytes(folder))


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
    if (
        os.name != "posix"
    ):  # elsewhere a folder cannot be opened, nor moved while a file in it is open
        return path.stat()
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    held.callback(os.close, handle)
    return os.fstat(handle)


def _read(folder: Path, known: Callable[[str], bool], files: ExitStack) -> Sealed:
    content = _manifest_bytes(folder)
    manifest = _manifest(folder, content)
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


def _manifest_bytes(folder: Path) -> bytes:
    try:
        return read_small(folder / MANIFEST)
    except FileNotFoundError:
        raise ModelError(_no_manifest(folder)) from None


def _manifest(folder: Path, content: bytes) -> Manifest:
    try:
        found = json_object(content)
        if not isinstance(found["sha256"], dict):
            raise ValueError("sha256 must be an object of names and digests")
    except (ValueError, KeyError, RecursionError) as error:
        raise ModelError(
            f"{folder / MANIFEST} is no manifest of ours: {reason_of(error)}"
        ) from None
    return cast(Manifest, found)


def _no_manifest(folder: Path) -> str:
    what = (
        f"has no {MANIFEST}; it is no folder of ours, or only part of one"
        if folder.exists()
        else "is not there"
    )
    return f"{folder} {what}"


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
