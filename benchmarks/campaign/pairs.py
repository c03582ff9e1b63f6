"""Two commands into one place at once: one result stands, whole, and who is refused is told.

Half of the second commands start within a tenth of a second, the others within two. In every eighth
case a killed process has left its lock, which is taken over at once.
"""

import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from campaign import warm
from campaign.command import Ran, said, start
from campaign.intact import left, tried
from campaign.tally import Tally
from campaign.works import Work, comparing, difference, fitting, tagging, write_rows
from tagwright.errors import InUseError
from tagwright.storage.lock import LOCK, require_free

REFUSALS = ("is in use", "exists", "an unfinished run stands", "is finished, with other data")
COLD = 0.25  # share of pairs that start interpreters
LATE, SOON = 2.0, 0.1  # seconds between the two
TAKEN_OVER = 30.0  # seconds a command with a dead lock may take, half of what a silent machine gets
ROWS = 40_000


class Known(NamedTuple):
    """A kind of work and what it comes to undisturbed."""

    work: Work
    whole: Any


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two commands, each with its options."""

    name: str
    first: Known
    second: Known
    options: tuple[Sequence[str], Sequence[str]] = ((), ())
    replaces: bool = False  # a finished model
    killed: bool = False  # a process before them has been


@dataclass
class Case:
    """What two commands found and came to."""

    pair: Pair
    place: Path
    ran: list[tuple[Known, Ran]] = field(default_factory=list)


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Start pairs."""
    warm.apart(partial(_paired, home=home, draw=random.Random(seed)), tally)


def _paired(tally: Tally, *, home: Path, draw: random.Random) -> None:
    pairs = _pairs(tally, home)
    for number in tally.rounds():
        pair, place = pairs[number % len(pairs)], home / f"case-{number}"
        if pair.replaces:
            shutil.copytree(home / "old", place)
        else:
            place.mkdir()
        if pair.killed:
            _leave_lock(tally, pair, place, draw)
        case = Case(pair, place)
        _start(tally, case, draw)
        _judge(tally, case)
        shutil.rmtree(place)


def _pairs(tally: Tally, home: Path) -> list[Pair]:
    rows = write_rows(home / "few.csv", 200)
    _known(tally, fitting(rows, "--epochs", "1"), home / "old")
    fits = fitting(rows, "--epochs", "25"), fitting(rows, "--epochs", "20", "--seed", "1")
    one, other = (_known(tally, fit, home / f"fit-{place}") for place, fit in enumerate(fits))
    many = write_rows(home / "many.csv", ROWS)
    tag = _known(tally, tagging(home / "old/out", many), home / "tag")
    compare = _known(tally, comparing(rows), home / "compare")
    going, replacing = ("--resume",), ("--overwrite",)
    return [
        Pair(name="fits", first=one, second=one),
        Pair(name="tags", first=tag, second=tag, options=((), going)),
        Pair(name="resumed", first=one, second=one, options=(going, going)),
        Pair(name="over", first=one, second=other, options=(replacing, replacing), replaces=True),
        Pair(name="different", first=one, second=other),
        Pair(name="compares", first=compare, second=compare, options=((), going)),
        Pair(name="dead lock", first=one, second=one, options=(going, going), killed=True),
        Pair(name="overwritten", first=one, second=other, options=((), replacing)),
    ]


def _known(tally: Tally, work: Work, place: Path) -> Known:
    place.mkdir()
    ran = tally.add(warm.start(*work.command(place)).ended())
    tally.require(ran.code == 0, f"{work.name} undisturbed: {said(ran)}")
    return Known(work, work.result(place / work.out))


def _leave_lock(tally: Tally, pair: Pair, place: Path, draw: random.Random) -> None:
    """Kill a process that holds the folder."""
    started, lock = warm.start(*pair.first.work.command(place)), place / "out.run" / LOCK
    deadline = time.monotonic() + TAKEN_OVER
    while not (lock.exists() and lock.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(draw.uniform(0.0, 0.3))
    started.process.kill()
    started.ended()
    tally.require(lock.exists(), f"{pair.name}: no lock was left")


def _start(tally: Tally, case: Case, draw: random.Random) -> None:
    """Start both, and wait for both."""
    pair, cold = case.pair, draw.random() < COLD
    wait = draw.uniform(0.0, draw.choice([SOON, LATE]))
    begun = []
    both = (pair.first, pair.second)
    for known, options in zip(both, pair.options):
        words = known.work.command(case.place, *options)
        begun.append(start(*words, env=warm.ONE_THREAD) if cold else warm.start(*words))
        time.sleep(0.0 if len(begun) == 2 else wait)
    case.ran = [(known, tally.add(one.ended())) for known, one in zip(both, begun)]


def _judge(tally: Tally, case: Case) -> None:
    """One result stands, of a command that succeeded; nothing is locked."""
    pair, work = case.pair, case.pair.first.work
    codes = [ran.code for _, ran in case.ran]
    tally.note(f"{work.name}: {'both succeed' if codes == [0, 0] else 'one refused'}")
    about = f"{pair.name}, exit codes {codes}"
    for _, ran in case.ran:
        text = " ".join(ran.err.split())
        told = ran.code == 0 or (ran.code == 2 and any(reason in text for reason in REFUSALS))
        tally.require(told, f"{about}: {said(ran)}")
        if ran.code:
            tally.note(f"told: {next((reason for reason in REFUSALS if reason in text), 'else')}")
        late = pair.killed and ran.seconds > TAKEN_OVER
        tally.require(not late, f"{about}: the dead lock was waited for, {ran.seconds:.0f} s")
    tally.require(0 in codes, f"{about}: {[said(ran) for _, ran in case.ran]}")
    _require_one(tally, case, about)
    _require_unlocked(tally, case, about)


def _require_one(tally: Tally, case: Case, about: str) -> None:
    work = case.pair.first.work
    found = tried(work.result, case.place / work.out)
    differences = [difference(found, known.whole) for known, ran in case.ran if ran.code == 0]
    tally.require("" in differences, f"{about}: {differences or found}")


def _require_unlocked(tally: Tally, case: Case, about: str) -> None:
    """Nothing is held or left, and the same command with --resume finds its result."""
    tally.require(not left(case.place), f"{about}: {left(case.place)} is left")
    for folder in case.place.rglob("*"):
        try:
            if folder.is_dir():
                require_free(folder)
        except InUseError as error:
            tally.require(False, f"{about}: {error}")
    done = [known for known, ran in case.ran if ran.code == 0]
    if case.pair.first.work.name == "fit" and len(done) == 1:
        ran = tally.add(warm.start(*done[0].work.command(case.place, "--resume")).ended())
        tally.require(ran.code == 0, f"{about}, then --resume: {ran.code}, {said(ran)}")
