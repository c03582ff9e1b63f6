"""Folders that one process works in at a time: a file in the folder names the process, and the
system guards the file.

The system's lock ends with its process, however that ends. Some shared file systems keep it to one
machine, so whoever holds a folder also touches the file every few seconds, and a process of another
machine that stays silent is gone.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from tagwright.errors import InUseError
from tagwright.storage.files import writing

LOCK = ".tagwright.storage.lock"
BEAT = 10.0  # seconds between two signs of life
SILENT = 60.0  # seconds without one, after which a process of another machine counts as gone
PATIENCE = 0.5  # seconds to wait for a process that only looks, or is about to write its name
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Owner(NamedTuple):
    """A process. `machine` tells its computer until that is started again, also from within a
    container.
    """

    pid: int
    host: str
    machine: str
    started: str


@contextmanager
def locked(folder: Path, *, shown: Path | None = None) -> Iterator[None]:
    """Make `folder` and hold it inside the block; it is an error where another process does.

    A block that fails leaves the file, which tells the folder for ours; a folder without any other
    file is removed. Messages name the path `shown`, if one is given.
    """
    file = shown or folder / LOCK
    with writing(file):
        handle = _held(folder, shown or folder, make=True)
    stopped = Event()
    beats = Thread(target=_beat, args=(folder / LOCK, handle, stopped), daemon=True)
    beats.start()
    done = False
    try:
        with writing(file):
            _sign(handle)
        yield
        done = True
    finally:
        stopped.set()
        beats.join()
        _let_go(folder, handle, done=done)


def require_free(folder: Path) -> None:
    """Refuse a folder that another process works in, and change nothing."""
    with suppress(FileNotFoundError, NotADirectoryError):
        os.close(_held(folder, folder, make=False))


def holds_files(folder: Path) -> bool:
    """Whether the folder has files beside the lock."""
    return any(
        Path(place, name) != folder / LOCK for place, _, names in os.walk(folder) for name in names
    )


def _held(folder: Path, shown: Path, *, make: bool) -> int:
    """The open file of the lock, which the system keeps for us; nothing is written to it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return _attempt(folder, shown, make=make)
        except (
            InUseError,
            FileNotFoundError,
            FileExistsError,
        ) as error:  # or removed by one that is done with it
            gone = isinstance(error, FileNotFoundError) and not make
            if gone or time.monotonic() > deadline:
                raise
        time.sleep(PATIENCE / 20)


def _attempt(folder: Path, shown: Path, *, make: bool) -> int:
    if make:
        folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / LOCK, os.O_RDWR | (os.O_CREAT if make else 0), 0o666)
    try:
        ours, owner = _guarded(handle), _owner(handle)
        silence = time.time() - os.fstat(handle).st_mtime
        # the process that wrote its name may still work, although the system let us have its lock
        gone = owner is None or (ours and owner.machine == _machine()) or silence >= SILENT
        if ours is False or not gone:
            raise InUseError(_refusal(shown, owner, silence))
        if not os.path.samestat(os.fstat(handle), (folder / LOCK).stat()):
            raise FileNotFoundError(folder / LOCK)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refusal(folder: Path, owner: Owner | None, silence: float) -> str:
    if owner is None:
        return f"{folder} is in use by another process; wait until it ends, or choose another --out"
    who = f"process {owner.pid} on {owner.host}, which started at {owner.started}"
    heard = (
        f". It gave a sign of life {max(silence, 0):.0f} seconds ago; after {SILENT:.0f} seconds it"
        " counts as gone"
    )
    cure = "wait until it ends, or choose another --out"
    return f"{folder} is in use by {who}; {cure}{'' if owner.machine == _machine() else heard}"


def _sign(handle: int) -> None:
    """Write our name."""
    started = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    owner = Owner(os.getpid(), platform.node(), _machine(), started)
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    left = json.dumps(owner._asdict()).encode() + b"\n"
    while left:  # a disk that is nearly full takes a part, and refuses the rest
        left = left[os.write(handle, left) :]
    os.close(os.dup(handle))  # a file server hears of it when any handle is closed


def _owner(handle: int) -> Owner | None:
    """Who wrote its name; None where nobody did, or has let go."""
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        return Owner(**json.loads(os.read(handle, 4096)))
    except (ValueError, TypeError):
        return None


def _machine() -> str:
    return BOOT.read_text(encoding="ascii").strip() if BOOT.exists() else platform.node()


def _beat(path: Path, handle: int, stopped: Event) -> None:
    while not stopped.wait(BEAT):
        with suppress(OSError):
            os.utime(handle if os.utime in os.supports_fd else path)


def _let_go(folder: Path, handle: int, *, done: bool) -> None:
    """Remove the file, unless it is what tells an unfinished folder for ours; a folder without
    others goes with it.
    """
    full = holds_files(folder)
    if full and not done:
        os.ftruncate(handle, 0)
        os.close(handle)
        return
    empty = () if full else tuple(place for place, *_ in os.walk(folder, topdown=False))
    for place in empty[:-1]:
        with suppress(OSError):
            os.rmdir(place)
    with suppress(OSError):
        (folder / LOCK).unlink()
    os.close(handle)
    with suppress(OSError):  # another process has begun to work here
        if sys.platform == "win32":
            (folder / LOCK).unlink()  # there a file that is open cannot be removed
        for place in empty[-1:]:
            os.rmdir(place)


if sys.platform == "win32":
    import msvcrt

    def _guarded(handle: int) -> bool | None:
        """Whether the system keeps the file for us; None where it cannot tell."""
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # beyond the name, which others must be able to read
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _guarded(handle: int) -> bool | None:
        """Whether the system keeps the file for us; None where it cannot tell."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks
            return None
        return True
