"""Folders that are whole or not there: filled aside, sealed with a manifest, synced, and put in
place in one step.

One process at a time writes a folder. Those that read it (`checked.py`) see the old one or the new
one.
"""

import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import file_digest
from pathlib import Path

from tagwright.errors import InUseError, ModelError
from tagwright.storage.checked import MANIFEST, read_manifest, verified
from tagwright.storage.files import exchanged, followed, left_over, named, sync_folder, writing
from tagwright.storage.lock import locked

__all__ = ["MANIFEST", "named", "require_model", "require_ours", "sha256", "verified", "written"]

PATIENCE = 60.0  # seconds to wait for a process that is writing the same folder


@contextmanager
def written(
    folder: Path,
    *,
    about: Mapping[str, object],
    overwrite: bool = False,
    free: Sequence[str] = (),
    kept: Sequence[str] = (),
    since: str | None = None,
    sealed: Callable[[str], None] = lambda digest: None,
) -> Iterator[Path]:
    """Gives a side folder to fill; leaving the block makes it `folder`, with a manifest of what it
    holds.

    An existing folder is an error, unless `overwrite`; of a link, the folder that it leads to is
    replaced. Files in `free` are not in the manifest: a person may change them. Files of the
    existing folder that its manifest names and that are in `kept` (names, or folders that end in
    "/") are linked into the new one, with their digests. It is an error if the existing folder's
    manifest has another digest than `since`; `sealed` is told that of the new one.
    """
    folder = followed(folder)
    aside = folder.with_name(f".{folder.name}.part")
    with _alone(folder):
        _recover(folder)
        if folder.exists() and not overwrite:
            raise ModelError(f"{folder} exists; choose another name or overwrite it")
        _require_replaceable(folder)
        if since is not None:
            _require_unchanged(folder, since)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        try:
            with writing(folder):
                known = _linked(folder, aside, kept) if kept else {}
                yield aside
                digest = _seal(aside, about, free, known)
                _put(aside, folder)
        finally:  # what was filled, or what it has replaced
            shutil.rmtree(aside, ignore_errors=True)
        sealed(digest)


def require_model(folder: Path) -> None:
    """Refuse to replace anything but a folder of ours or an empty one; what is not there is fine.

    A folder that a killed process has moved away is put back first, so that it counts.
    """
    folder = followed(folder)
    if _is_left_over(folder):
        with _alone(folder):
            _recover(folder)
    _require_replaceable(folder)


def require_ours(folder: Path, marks: Sequence[str], what: str) -> None:
    """Refuse a file, and a folder that holds something but none of `marks`, the names that tell it
    for ours.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not any((folder / mark).exists() for mark in marks):
        raise ModelError(f"{folder} exists and is no {what}; choose another --out")


def sha256(path: Path) -> str:
    """Digest of a file, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Inside the block no other process writes the folder; one that does is waited for."""
    place, deadline = folder.with_name(f".{folder.name}.lock"), time.monotonic() + PATIENCE
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(locked(place, shown=folder))
                break
            except (
                InUseError,
                FileNotFoundError,
                FileExistsError,
            ):  # the last two: it has just been removed
                if time.monotonic() > deadline:
                    raise
        yield


def _require_replaceable(folder: Path) -> None:
    try:
        read_manifest(folder)
    except ModelError:
        require_ours(folder, (), "model folder")


def _require_unchanged(folder: Path, since: str) -> None:
    manifest = folder / MANIFEST
    if not manifest.is_file() or sha256(manifest) != since:
        said = f"another process has replaced or removed {folder} since it was read or written here"
        raise ModelError(f"{said}; load it again and repeat what you did")


def _linked(folder: Path, aside: Path, kept: Sequence[str]) -> dict[str, str]:
    """Links files into the new folder without copying them; their digests, by name."""
    known = {
        name: digest
        for name, digest in read_manifest(folder)[0]["sha256"].items()
        if name.startswith(tuple(kept))
    }
    for name in known:
        (aside / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(folder / name, aside / name)
        except OSError:  # a file system without links
            shutil.copy2(folder / name, aside / name)
    return known


def _seal(
    folder: Path, about: Mapping[str, object], free: Sequence[str], known: Mapping[str, str]
) -> str:
    """Write the manifest, and sync all files to the disk; digests that are `known` are not made
    again.

    Libraries make files that only their owner may read: all new files get the rights of the
    manifest.
    """
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    names = {p.relative_to(folder).as_posix(): p for p in files}
    digests = {name: known.get(name) or sha256(p) for name, p in names.items() if name not in free}
    text = json.dumps({**about, "sha256": digests}, indent=1, ensure_ascii=False) + "\n"
    manifest = folder / MANIFEST
    manifest.write_text(text, encoding="utf-8")
    rights = stat.S_IMODE(manifest.stat().st_mode)
    # those that are linked are on the disk
    fresh = [path for name, path in names.items() if name not in known]
    for path in [*fresh, manifest]:
        path.chmod(rights)
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for path in sorted({p.parent for p in files} | {folder}):
        sync_folder(path)
    return sha256(manifest)


def _is_left_over(folder: Path) -> bool:
    """Whether a kill fell between the two renames of an overwrite."""
    return not folder.exists() and (left_over(folder) / MANIFEST).exists()


def _recover(folder: Path) -> None:
    """Put the old folder back where nothing has taken its place."""
    if _is_left_over(folder):
        left_over(folder).rename(folder)


def _put(aside: Path, folder: Path) -> None:
    """Make `aside` the folder. Where the system can, the two are swapped; else the old one is moved
    away first.
    """
    old = left_over(folder)
    shutil.rmtree(old, ignore_errors=True)  # its successor is there
    if not folder.exists():
        aside.rename(folder)
    elif not exchanged(aside, folder):
        folder.rename(old)
        try:
            aside.rename(folder)
        except BaseException:
            old.rename(folder)
            raise
    sync_folder(folder.parent)
    shutil.rmtree(old, ignore_errors=True)
