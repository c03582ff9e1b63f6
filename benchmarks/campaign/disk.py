"""Full disks: a command says what it cannot write, loses nothing, and goes on with room.

The disk is a small tmpfs in a mount namespace of this part alone, filled so that a random number
of kilobytes is left. Where mounting is not permitted, no file can grow beyond so many instead.
"""

import ctypes
import os
import random
import resource
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from campaign import warm
from campaign.command import Ran, said
from campaign.intact import left, mixed, tried
from campaign.tally import Tally
from campaign.works import (
    Work,
    comparing,
    difference,
    files_of,
    fitting,
    tagging,
    write_rows,
)

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS of the system
SIZE = 16  # megabytes of the disk
PAGE = 4  # kilobytes that a file takes at least
OF_DECISION = 80  # kilobytes, for the weights are linked
ROWS = 20_000
FULL = ("no space left", "file too large")


@dataclass(frozen=True, kw_only=True)
class Known:
    """A kind of work, what stands before it, what it comes to, and how many kilobytes it writes."""

    work: Work
    before: Path | None
    whole: Any
    kilobytes: int


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Fill disks."""
    warm.apart(partial(_filled, home=home, draw=random.Random(seed)), tally)


def _filled(tally: Tally, *, home: Path, draw: random.Random) -> None:
    every = _every(tally, home)
    disk = home / "disk"
    disk.mkdir()
    mounted = _mounted(disk)
    tally.note("on a tmpfs" if mounted else "mounting not permitted: by RLIMIT_FSIZE")
    for number in tally.rounds():
        known = every[number % len(every)]
        place = disk / "case"
        if known.before:
            shutil.copytree(known.before, place)
        else:
            place.mkdir()
        room = _room(draw, known.kilobytes // PAGE)
        _case(tally, known, place, room, _fill(disk, room) if mounted else None)
        shutil.rmtree(place)
    if mounted:
        subprocess.run(["umount", str(disk)], check=True)


def _every(tally: Tally, home: Path) -> list[Known]:
    rows, many = write_rows(home / "few.csv", 200), write_rows(home / "many.csv", ROWS)
    fit, old = fitting(rows, "--epochs", "8"), home / "old"
    _known(tally, fitting(rows, "--epochs", "1", "--seed", "1"), None, old)
    model = str(old / "out")
    decide = ("decide", "{place}/out", "{data}")
    report = ("report", model, "{data}", "--out", "{place}/out.html")
    works = {
        fit: None,
        _renamed(fit, "overwrite", words=(*fit.words, "--overwrite"), again=()): old,
        tagging(old / "out", many): None,
        comparing(rows): None,
        Work(name="decide", words=decide, result=files_of, again=(), data=many): old,
        Work(name="report", words=report, result=_page, out="out.html", again=(), data=rows): None,
    }
    return [_known(tally, work, before, home / work.name) for work, before in works.items()]


def _room(draw: random.Random, pages: int) -> int:
    """Kilobytes; half of the draws go for the fewest, where the small files fail."""
    drawn = draw.choice([draw.uniform(0, pages), pages ** draw.random() - 1])
    return PAGE * int(drawn)


def _renamed(work: Work, name: str, **changes: Any) -> Work:
    return Work(**{**vars(work), "name": name, **changes})


def _page(out: Path) -> bool:
    return out.read_text(encoding="utf-8").rstrip().endswith("</html>")


def _known(tally: Tally, work: Work, before: Path | None, place: Path) -> Known:
    """The work undisturbed."""
    if before:
        shutil.copytree(before, place)
    else:
        place.mkdir()
    ran = tally.add(warm.start(*work.command(place)).ended())
    tally.require(ran.code == 0, f"{work.name} undisturbed: {said(ran)}")
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) // 1024
    whole = work.result(place / work.out)
    kilobytes = OF_DECISION if work.name == "decide" else 3 * size
    return Known(work=work, before=before, whole=whole, kilobytes=kilobytes)


def _mounted(disk: Path) -> bool:
    """Whether there is a small disk now that only this process and those that it starts see."""
    if not os.path.exists("/proc/self/ns/mnt") or ctypes.CDLL(None).unshare(NEW_MOUNTS):
        return False
    steps = (
        ["mount", "--make-rprivate", "/"],
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(disk)],
    )
    return all(not subprocess.run(step, capture_output=True).returncode for step in steps)


def _fill(disk: Path, room: int) -> Path:
    """Fill the disk until so many kilobytes are left; the file that does it."""
    ballast, found = disk / "ballast", os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(found.f_bavail * found.f_frsize - room * 1024, 1))
    return ballast


def _limited(room: int) -> Callable[[], None]:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    return partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room * 1024, most))


def _case(tally: Tally, known: Known, place: Path, room: int, ballast: Path | None) -> None:
    """The command on the full disk, and again with room."""
    work, about = known.work, f"{known.work.name} with {room} KB"
    prepare = None if ballast else _limited(max(room, PAGE))  # messages go to a file, too
    ran = tally.add(warm.start(*work.command(place), prepare=prepare).ended())
    if ran.code == 0:
        tally.note(f"{work.name} had room")
    else:
        tally.note(f"{work.name} refused")
        _require_told(tally, ran, place, about)
        found = _lost(known, place)
        tally.require(not found, f"{about}: {found}")
    if ballast:
        ballast.unlink()
    if ran.code:
        ran = tally.add(warm.start(*work.command(place, *work.again)).ended())
        tally.require(ran.code == 0, f"{about}, then room: {ran.code}, {said(ran)}")
    found = difference(tried(work.result, place / work.out), known.whole)
    tally.require(not found, f"{about}: {found}")
    tally.require(not left(place), f"{about}: {left(place)} is left")


def _lost(known: Known, place: Path) -> str:
    """What is wrong with the model that stood before; only an overwrite may have replaced it."""
    if known.before is None:
        return ""
    old = files_of(known.before / "out")
    if known.work.name == "overwrite":
        return mixed(place / "out", old, known.whole)
    return difference(tried(files_of, place / "out"), old)


def _require_told(tally: Tally, ran: Ran, place: Path, about: str) -> None:
    """The message names a file of this folder, and says what to do."""
    text = " ".join(ran.err.split())
    tally.require(ran.code == 2, f"{about}: exit code {ran.code}")
    names = f"cannot write {place}" in text and any(reason in text.lower() for reason in FULL)
    tally.require(names, f"{about}: {said(ran)}")
    tally.require("free some space" in text or FULL[1] in text.lower(), f"{about}: {said(ran)}")
