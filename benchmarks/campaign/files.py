"""Hostile data files: read or refused in one line, never with a traceback, a hang or gigabytes of
memory.
"""

import random
import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path

from campaign import models
from campaign.command import tagwright
from campaign.forks import Ended, Forks, command, environment
from campaign.hostile import Hostile
from campaign.hostile_csv import CASES as CSV
from campaign.hostile_files import CASES as FILES
from campaign.hostile_json import CASES as JSON
from campaign.hostile_parquet import CASES as PARQUET
from campaign.tally import Tally

CASES = [*JSON, *CSV, *PARQUET, *FILES]
WHOLE = 100  # from which on all of them are made
KIND = "cnn"  # the model that tags
MOST = 2e9  # bytes of a process
REAL = 30  # every so many cases, one goes through the real command line
# faults that `tag` need not see
OF_LABELS = re.compile(r"label|tags|classes|column 'weight'|no rows after it")
OUTS = ("out.csv", "out.jsonl", "out.parquet", "out.tsv")


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Write the files, and have them checked and tagged; some are learnt from and scored."""
    chosen = list(range(len(CASES)))
    random.Random(seed).shuffle(chosen)
    tally.wanted = len(chosen) if tally.wanted >= WHOLE else tally.wanted
    with Forks(home) as maker:
        maker.call(models.make, home, [KIND], patience=300)
    with Forks(home, models.warm_up, [home / KIND]) as forks:
        for number in tally.rounds():
            case, place = CASES[chosen[number]], home / "data"
            place.mkdir()
            made = forks.call(write, chosen[number], place / case.name, patience=300)
            tally.require(made.ran.code == 0, f"{case.what}: not made, {made.said[-1:]}")
            out = str(place / OUTS[number % len(OUTS)])
            tagging = [
                "tag",
                str(home / KIND),
                str(place / case.name),
                "--out",
                out,
                "--column",
                "made",
            ]
            words = [["check", str(place / case.name)], tagging]
            if case.learn:
                fitted = ["--out", str(place / "m"), "--set", "fit.epochs=1", "--encoder", "bow"]
                words += [
                    ["fit", str(place / case.name), *fitted],
                    ["score", str(home / KIND), str(place / case.name)],
                ]
            ends = [_ran(tally, case, forks, one, place / case.name) for one in words]
            if case.alike:
                _alike(tally, case, *ends[:2])
            if number % REAL == 0 and not case.meanwhile:
                _as_a_user(tally, case, words[0], home, ends[0])
            shutil.rmtree(place)


def write(number: int, path: Path) -> None:
    """Write the file of a case."""
    CASES[number].write(path)


def _ran(tally: Tally, case: Hostile, forks: Forks, words: list[str], path: Path) -> Ended:
    if case.meanwhile:
        CASES[CASES.index(case)].write(path)  # as it was, for each command
        busy = threading.Thread(target=_quietly, args=(case, path))
        busy.start()
    ended = forks.call(command, *words, patience=case.patience)
    if case.meanwhile:
        busy.join()
    name = f"{case.what}, {words[0]}"
    tally.add(replace(ended.ran, args=(name,)))
    said = ended.ran.err.strip()
    tally.note(f"{words[0]} {'refuses' if ended.ran.code == 2 else 'works'}")
    if ended.ran.code not in (0, 2) and not ended.ran.faults:
        tally.require(False, f"{name}: exit code {ended.ran.code}, {said[-300:]!r}")
    if ended.ran.code == 2:
        lines = [line for line in said.splitlines() if not line.startswith(("tagged", "wrote"))]
        tally.require(
            bool(lines) and lines[-1].startswith("error: "),
            f"{name}: no clear line, {said[:300]!r}",
        )
    tally.require(ended.ran.peak < MOST, f"{name}: {ended.ran.peak / 1e6:,.0f} MB")
    tally.require(
        "\x1b" not in ended.ran.out + ended.ran.err,
        f"{name}: an escape character reached the terminal",
    )
    tally.require(not ended.reached, f"{name}: reached out, {ended.reached[:2]}")
    return ended


def _quietly(case: Hostile, path: Path) -> None:
    if case.meanwhile:
        case.meanwhile(path)


def _alike(tally: Tally, case: Hostile, checked: Ended, tagged: Ended) -> None:
    """Both take the file, or both refuse it in the same words; faults of labels are for `check`
    alone.
    """
    said = [ended.ran.err.strip().splitlines()[-1:] for ended in (checked, tagged)]
    codes = checked.ran.code, tagged.ran.code
    if codes == (0, 0) or said[0] == said[1] or checked.ran.hung or tagged.ran.hung:
        return
    if codes[0] == 2 and said[0] and OF_LABELS.search(said[0][0]):
        return
    tally.require(
        False, f"{case.what}: check and tag differ, {codes} {said[0]!r:.300} {said[1]!r:.300}"
    )


def _as_a_user(tally: Tally, case: Hostile, words: list[str], home: Path, ended: Ended) -> None:
    """The same by the command line itself."""
    with environment(home):
        ran = tally.add(tagwright(*words, patience=case.patience))
    codes = ran.code, ended.ran.code
    tally.require(
        codes[0] == codes[1], f"{case.what}: exit codes {codes} by the command line and in a fork"
    )
    tally.require(ran.peak < MOST, f"{case.what}: {ran.peak / 1e6:,.0f} MB by the command line")
