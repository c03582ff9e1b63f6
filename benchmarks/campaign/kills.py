"""SIGKILL at random moments: what stands is whole, and what goes on ends in the same bits.

Five kinds of work take turns, each in a chain: it goes on after every kill, until a command
finishes and is compared with an undisturbed run. A fifth of the commands start an interpreter, so
that kills hit its imports too; the others start in a copy, so that kills hit the work.
"""

import random
import shutil
import signal
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from campaign import command, warm
from campaign.command import Ran, said
from campaign.intact import left, mixed, torn, tried
from campaign.tally import Tally
from campaign.works import (
    Work,
    comparing,
    difference,
    fitting,
    reproducing,
    tagging,
    was_complete,
    write_rows,
)

COLD = 0.2  # share of commands that start an interpreter
EARLIEST = 0.2  # seconds until a kill of those
ROWS = 160_000  # to tag: a shard and a part of one
OTHER_RUN = "is finished, with other data or settings"


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Kill and go on."""
    warm.apart(partial(_killed, home=home, draw=random.Random(seed)), tally)


def _killed(tally: Tally, *, home: Path, draw: random.Random) -> None:
    chains = _chains(tally, home, draw)
    for number in tally.rounds():
        chains[number % len(chains)].kill()
    for chain in chains:
        chain.finish()


def _chains(tally: Tally, home: Path, draw: random.Random) -> list["Chain"]:
    fit = fitting("shop", "--epochs", "4", "--objective", "zlpr")
    old, replaced = (
        _undisturbed(tally, fitting("shop", "--epochs", "1"), home / "old")[0],
        home / "old",
    )
    works = [fit, comparing("shop"), reproducing(home)]
    works.append(tagging(replaced / "out", write_rows(home / "rows.csv", ROWS)))
    chains = []
    for work in works:
        whole, seconds = _undisturbed(tally, work, home / f"{work.name}-whole")
        place = home / f"{work.name}-killed"
        chains.append(Chain(work, place, whole, seconds, draw, tally))
    again = Work(**{**vars(fit), "name": "overwrite"})
    whole, seconds = chains[0].whole, dict(chains[0].seconds)
    place = home / "overwrite-killed"
    return [
        *chains,
        Overwriting(again, place, whole, seconds, draw, tally, folder=replaced, old=old),
    ]


def _undisturbed(tally: Tally, work: Work, place: Path) -> tuple[Any, dict[bool, float]]:
    """What the work comes to, and how long it takes with and without starting an interpreter."""
    found, seconds = [], {}
    for cold in (True, False):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        ran = tally.add(_start(work.command(place), cold=cold).ended())
        tally.require(ran.code == 0, f"{work.name} undisturbed: {said(ran)}")
        found.append(work.result(place / work.out))
        seconds[cold] = ran.seconds
    tally.require(found[0] == found[1], f"{work.name} twice: {difference(*found)}")
    return found[0], seconds


def _start(words: tuple[str, ...], *, cold: bool) -> command.Started:
    return command.start(*words, env=warm.ONE_THREAD) if cold else warm.start(*words)


@dataclass
class Chain:
    """One piece of work that is killed, goes on, and is begun anew when it has finished."""

    work: Work
    place: Path
    whole: Any  # what an undisturbed run comes to
    seconds: dict[bool, float]  # that it takes undisturbed, by whether an interpreter starts
    draw: random.Random
    tally: Tally
    begun: bool = False
    kills: int = 0

    def kill(self) -> None:
        """Go on until a kill has hit."""
        for _ in range(20):
            cold = self.draw.random() < COLD
            moment = self.draw.uniform(EARLIEST if cold else 0.0, self.seconds[cold])
            ran = self._ran(self._words(), cold=cold, send=(moment, signal.SIGKILL))
            if ran.code == -signal.SIGKILL:
                self.kills += 1
                self.tally.note(f"{self.work.name} killed")
                self._require_intact()
                return
            if not self.kills:  # the machine may have been busier before
                self.seconds[cold] = min(self.seconds[cold], ran.seconds)
            self._ended(ran)
        self.tally.require(False, f"{self.work.name}: 20 commands ended before they were killed")

    def finish(self) -> None:
        """Let the work come to its end."""
        if self.begun:
            self._ended(self._ran(self._words(), cold=False))

    def _words(self) -> tuple[str, ...]:
        if not self.begun:
            self.begun = True
            self._prepare()
        return self.work.command(self.place, *self.work.again)

    def _prepare(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()

    def _ran(self, words: tuple[str, ...], *, cold: bool, **options: Any) -> Ran:
        return self.tally.add(_start(words, cold=cold).ended(**options))

    def _ended(self, ran: Ran) -> None:
        """Compare what a command came to that ended by itself."""
        name = f"{self.work.name} after {self.kills} kills"
        self.begun, self.kills = False, 0
        if ran.code and not was_complete(self.work, ran):
            self.tally.require(False, f"{name}: exit code {ran.code}, {said(ran)}")
            return
        found = difference(tried(self.work.result, self.place / self.work.out), self.whole)
        self.tally.require(not found, f"{name}: {found}")
        self.tally.require(not left(self.place), f"{name} leaves {left(self.place)}")
        self.tally.note(f"{self.work.name} finished")

    def _require_intact(self) -> None:
        """What stands after a kill is not there, or whole."""
        out = self.place / self.work.out
        if self.work.name == "fit":
            found = out.exists() and mixed(out, self.whole)
        elif self.work.name == "tag":
            found = out.exists() and difference(tried(self.work.result, out)[0], self.whole[0])
        else:
            found = torn(out)
        self.tally.require(not found, f"{self.work.name} after {self.kills} kills: {found}")


@dataclass
class Overwriting(Chain):
    """Training over a finished model, which stands until the new one does."""

    folder: Path = field(kw_only=True)  # with the old model
    old: Any = field(kw_only=True)

    def _prepare(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.folder, self.place)

    def _words(self) -> tuple[str, ...]:
        goes_on = self.begun and self.draw.random() < 0.5
        super()._words()
        return self.work.command(self.place, "--resume" if goes_on else "--overwrite")

    def _ended(self, ran: Ran) -> None:
        """An early kill leaves the old run, which has other settings and cannot go on."""
        if ran.code == 2 and OTHER_RUN in " ".join(ran.err.split()):
            self.tally.note("overwrite not begun, --resume refused")
            self._require_old()
            ran = self._ran(self.work.command(self.place, "--overwrite"), cold=False)
        super()._ended(ran)

    def _require_old(self) -> None:
        found = difference(tried(self.work.result, self.place / self.work.out), self.old)
        self.tally.require(not found, f"overwrite not begun: {found}")

    def _require_intact(self) -> None:
        found = mixed(self.place / self.work.out, self.old, self.whole)
        self.tally.require(not found, f"overwrite after {self.kills} kills: {found}")
