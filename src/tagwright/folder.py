"""Folders that are whole or not there: filled aside, checked by sha256, synced, renamed."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tagwright.errors import ModelError

MANIFEST = "manifest.json"


@contextmanager
def written(
    folder: Path,
    *,
    about: Mapping[str, Any],
    overwrite: bool = False,
    free: Sequence[str] = (),
    kept: Sequence[str] = (),
) -> Iterator[Path]:
    """Gives a side folder to fill; leaving the block makes it `folder`, with a manifest of what it holds.

    An existing folder is an error, unless `overwrite`: one of ours is then moved away first and removed last. Files in
    `free` are not in the manifest: a person may change them. Files of the existing folder that its manifest names and
    that are in `kept` (names, or folders that end in "/") are linked into the new one, with their digests.
    """
    folder = named(folder)
    _recover(folder)
    if folder.exists() and not overwrite:
        raise ModelError(f"{folder} exists; choose another name or overwrite it")
    require_model(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        known = _linked(folder, aside, kept) if kept else {}
        yield aside
        _seal(aside, about, free, known)
        _rename(aside, folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def verified(folder: Path) -> dict[str, Any]:
    """The manifest, after every file it names was found unaltered. Files it does not name are ignored."""
    folder = named(folder)
    _recover(folder)
    try:
        manifest = _manifest(folder)
        digests = dict(manifest["sha256"])
    except (FileNotFoundError, NotADirectoryError):
        what = f"has no {MANIFEST}; it is no folder of ours, or only part of one" if folder.exists() else "is not there"
        raise ModelError(f"{folder} {what}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(f"{folder / MANIFEST} is no manifest of ours: {error}") from None
    for name, digest in digests.items():
        path = folder / name
        if not path.is_file():
            raise ModelError(f"{path} is missing; it was there when the folder was written")
        if sha256(path) != digest:
            raise ModelError(f"{path} was altered since it was written; restore it, or make the folder anew")
    return manifest


def require_model(folder: Path) -> None:
    """Refuse to replace anything but a folder of ours or an empty one; what is not there is fine."""
    try:
        ours = "sha256" in dict(_manifest(folder))
    except (OSError, ValueError, TypeError):
        ours = False
    if not ours:
        require_ours(folder, (), "model folder")


def require_ours(folder: Path, marks: Sequence[str], what: str) -> None:
    """Refuse a file, and a folder that holds something but none of `marks`, the names that tell it for ours."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not any((folder / mark).exists() for mark in marks):
        raise ModelError(f"{folder} exists and is no {what}; choose another --out")


def named(folder: Path) -> Path:
    """The same folder by a path that ends in its name, also where it is `.` or `..`."""
    return Path(os.path.abspath(folder)) if folder.name in ("", "..") else folder


def sha256(path: Path) -> str:
    """Digest of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return found


def _linked(folder: Path, aside: Path, kept: Sequence[str]) -> dict[str, str]:
    """Links files into the new folder without copying them; their digests, by name."""
    known = {name: digest for name, digest in _manifest(folder)["sha256"].items() if name.startswith(tuple(kept))}
    for name in known:
        (aside / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(folder / name, aside / name)
        except OSError:  # a file system without links
            shutil.copy2(folder / name, aside / name)
    return known


def _seal(folder: Path, about: Mapping[str, Any], free: Sequence[str], known: Mapping[str, str]) -> None:
    """Write the manifest, and sync all files to the disk; digests that are `known` are not made again."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    names = {p.relative_to(folder).as_posix(): p for p in files}
    digests = {name: known.get(name) or sha256(p) for name, p in names.items() if name not in free}
    text = json.dumps({**about, "sha256": digests}, indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    fresh = [path for name, path in names.items() if name not in known]  # those that are linked are on the disk
    for path in [*fresh, folder / MANIFEST]:
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for path in sorted({p.parent for p in files} | {folder}):
        _sync_folder(path)


def _recover(folder: Path) -> None:
    """Put the old folder back where a kill fell between the two renames of an overwrite."""
    old = folder.with_name(f".{folder.name}.old")
    if (old / MANIFEST).exists() and not folder.exists():
        old.rename(folder)


def _rename(aside: Path, folder: Path) -> None:
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    _sync_folder(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync_folder(path: Path) -> None:
    if os.name == "posix":  # elsewhere a folder cannot be opened, and the rename is durable by itself
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
