"""What crafted model folders are made with: a change to a sound folder, after which the manifest is
made true again.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
HEAD = "heads/main"
DEEP = 100_000  # levels of nesting
INFINITE = float("inf")  # written as 1e999, which is JSON
CANARY = "canary"  # a file beside the folder, which any code that is run would write

Change = Callable[[Path], None]


@dataclass(frozen=True, kw_only=True)
class Crafted:
    """A folder that somebody has made up. It is `sealed` if its manifest has the digests of what is
    there.
    """

    name: str
    change: Change
    kind: str = "cnn"
    sealed: bool = True

    def make(self, folder: Path) -> None:
        """Turn a copy of a sound model into it."""
        self.change(folder)
        if self.sealed:
            seal(folder)


def seal(folder: Path, **about: Any) -> None:
    """Make the manifest true, with what it says `about` the model; files that are no files keep
    their digest.
    """
    path = folder / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    files = sorted(
        one
        for one in folder.rglob("*")
        if one.is_file() and one not in (path, folder / "README.md")
    )
    digests = {one.relative_to(folder).as_posix(): _digest(one) for one in files}
    path.write_text(
        json.dumps({**manifest, "sha256": {**manifest["sha256"], **digests}, **about}),
        encoding="utf-8",
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def written(path: Path, content: Any) -> None:
    """Bytes and text as they are, whatever else as JSON, in which infinity is 1e999 and NaN is
    NaN.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = (
            content
            if isinstance(content, str)
            else json.dumps(content).replace("Infinity", "1e999")
        )
        path.write_text(text, encoding="utf-8", errors="surrogatepass")


def text(name: str, content: Any) -> Change:
    """Another content of a file."""
    return lambda folder: written(folder / name, content)


def value(name: str, *keys: str | int, to: Any) -> Change:
    """Another value in a JSON file, under these keys."""

    def change(folder: Path) -> None:
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        place = content
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to
        written(folder / name, content)

    return change


def each(file: str, *keys: str, to: list[Any]) -> dict[str, Change]:
    """Each of these values in turn."""
    return {f"{'.'.join((file, *keys))} = {one!r:.40}": value(file, *keys, to=one) for one in to}


def about(**values: Any) -> Change:
    """Other values in the manifest."""
    return lambda folder: seal(folder, **values)


def option(name: str, to: Any) -> Change:
    """Another setting of the encoder."""
    return value("inference.json", "encoder", "options", name, to=to)


def all_of(*changes: Change) -> Change:
    """Several changes."""

    def change(folder: Path) -> None:
        for one in changes:
            one(folder)

    return change


def replaced(name: str, make: Callable[[Path], object]) -> Change:
    """Something that is no regular file in the place of one."""

    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return change


def sparse(size: int) -> Callable[[Path], None]:
    """A file of so many bytes that takes no room on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def device(path: Path) -> None:
    """An endless device, or a link to one where only an administrator may make it."""
    try:
        os.mknod(path, 0o20644, os.makedev(1, 5))
    except PermissionError:
        path.symlink_to("/dev/zero")


def cases(kind: str, changes: dict[str, Change], *, sealed: bool = True) -> list[Crafted]:
    """Cases of one kind of model, by name."""
    return [
        Crafted(name=f"{kind}: {name}", kind=kind, change=one, sealed=sealed)
        for name, one in changes.items()
    ]
