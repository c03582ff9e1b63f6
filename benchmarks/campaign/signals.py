"""Signals at random moments: no traceback, no lost model, the same bits in the end.

Every signal that a user, a terminal or a scheduler may send, in training, tagging and comparing.
Those that stop a process are followed by SIGCONT two seconds later, and the command must just go
on. All commands start an interpreter, for a signal may come while it imports.
"""

import os
import random
import shutil
import signal
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from campaign import warm
from campaign.command import Ran, said, start
from campaign.intact import left, mixed, torn, tried
from campaign.tally import Tally
from campaign.works import (
    Work,
    comparing,
    difference,
    fitting,
    tagging,
    was_complete,
    write_rows,
)

NAMES = (
    *("TERM", "INT", "STOP", "HUP", "QUIT", "USR1", "USR2", "PIPE", "ALRM", "XCPU", "TSTP"),
    *("XFSZ", "VTALRM", "PROF", "CONT", "WINCH", "CHLD", "URG", "TTIN", "TTOU"),
)
STOPPING = ("STOP", "TSTP", "TTIN", "TTOU")
IGNORED = (*STOPPING, "CONT", "WINCH", "CHLD", "URG", "PIPE", "XFSZ")  # by the system or by Python
PAUSE = 2.0  # seconds until a process that was stopped goes on
EARLIEST = 0.05  # seconds: until then the interpreter itself starts
IMPORTING = 0.4  # seconds: until then a command parses its words and imports
EARLY = 0.2  # share of the signals that come then
INTERRUPTED = 130
ROWS = 60_000


@dataclass(frozen=True, kw_only=True)
class Known:
    """A kind of work, with what it comes to undisturbed and how long it takes."""

    work: Work
    whole: Any
    seconds: float


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Send signals, then go on."""
    warm.apart(partial(_disturbed, home=home, draw=random.Random(seed)), tally)


def _disturbed(tally: Tally, *, home: Path, draw: random.Random) -> None:
    rows = write_rows(home / "few.csv", 200)
    known = [_known(tally, fitting(rows, "--epochs", "20"), home)]
    for work in (tagging(home / "fit/out", write_rows(home / "many.csv", ROWS)), comparing(rows)):
        known.append(_known(tally, work, home))
    for number in tally.rounds():
        name, one = NAMES[number % len(NAMES)], known[number % len(known)]
        place = home / f"case-{number}"
        place.mkdir()
        _case(tally, one, place, name, _moment(draw, one.seconds))
        shutil.rmtree(place)


def _moment(draw: random.Random, seconds: float) -> float:
    """When a signal is sent; some come early."""
    return draw.uniform(EARLIEST, IMPORTING if draw.random() < EARLY else seconds)


def _known(tally: Tally, work: Work, home: Path) -> Known:
    place = home / work.name
    place.mkdir()
    ran = tally.add(start(*work.command(place), env=warm.ONE_THREAD).ended())
    tally.require(ran.code == 0, f"{work.name} undisturbed: {said(ran)}")
    return Known(work=work, whole=work.result(place / work.out), seconds=ran.seconds)


def _case(tally: Tally, known: Known, place: Path, name: str, moment: float) -> None:
    """One signal; a command that it has ended goes on."""
    ran = tally.add(_sent(known.work.command(place), name, moment))
    about = f"{known.work.name}, SIG{name} after {moment:.2f} s"
    tally.note(f"SIG{name}: {_ending(ran)}")
    if ran.code == 0:
        return _require_same(tally, known, place, about)
    number = signal.Signals[f"SIG{name}"]
    tally.require(name not in IGNORED, f"{about}: exit code {ran.code}, {said(ran)}")
    tally.require(ran.code in (-number, INTERRUPTED), f"{about}: exit code {ran.code}, {said(ran)}")
    tally.require(not _lost(known, place), f"{about}: {_lost(known, place)}")
    after = tally.add(warm.start(*known.work.command(place, *known.work.again)).ended())
    goes_on = after.code == 0 or was_complete(known.work, after)
    tally.require(goes_on, f"{about}, then --resume: {after.code}, {said(after)}")
    return _require_same(tally, known, place, f"{about}, then --resume")


def _sent(words: tuple[str, ...], name: str, moment: float) -> Ran:
    number = signal.Signals[f"SIG{name}"]
    started = start(*words, env=warm.ONE_THREAD, prepare=_as_in_a_terminal)
    if name not in STOPPING:
        return started.ended(send=(moment, number))
    time.sleep(moment)
    for each, pause in ((number, PAUSE), (signal.SIGCONT, 0.0)):
        os.kill(started.process.pid, each)  # one that has ended is there until it is waited for
        time.sleep(pause)
    return started.ended()


def _as_in_a_terminal() -> None:
    """Heed the signals that a shell has background commands ignore."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _ending(ran: Ran) -> str:
    if ran.code < 0:
        return "ended by it"
    return {0: "went on", INTERRUPTED: "interrupted"}.get(ran.code, f"exit code {ran.code}")


def _lost(known: Known, place: Path) -> str:
    """What is wrong with what stands."""
    out = place / known.work.out
    if not out.exists():
        return ""
    if known.work.name == "fit":
        return mixed(out, known.whole)
    if known.work.name == "tag":
        return difference(tried(known.work.result, out)[0], known.whole[0])
    return torn(out)


def _require_same(tally: Tally, known: Known, place: Path, about: str) -> None:
    found = difference(tried(known.work.result, place / known.work.out), known.whole)
    tally.require(not found, f"{about}: {found}")
    tally.require(not left(place), f"{about}: {left(place)} is left")
