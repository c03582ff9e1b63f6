"""Model folders that somebody hostile has made, their digests right: refused in one line, soon, in
little memory.
"""

import csv
import math
import random
import shutil
import statistics
from dataclasses import replace
from pathlib import Path

from campaign import models
from campaign.command import tagwright
from campaign.crafted import CANARY, Crafted
from campaign.crafted_configs import CASES as CONFIGS
from campaign.crafted_labels import CASES as LABELS
from campaign.crafted_manifest import CASES as MANIFESTS
from campaign.crafted_settings import CASES as SETTINGS
from campaign.crafted_tokenizers import CASES as TOKENIZERS
from campaign.crafted_weights import CASES as WEIGHTS
from campaign.forks import Ended, Forks, command, environment
from campaign.tally import Tally

CASES = [*MANIFESTS, *SETTINGS, *WEIGHTS, *LABELS, *TOKENIZERS, *CONFIGS]
WHOLE = 100  # from which on all of them are made
SECONDS, BYTES = 1.0, 200e6  # beyond those of a refusal of an empty folder
PATIENCE = 10.0
REAL = 40  # every so many cases, one goes through the real command line
TEXTS = ["red tent and a knife", "a" * 40 + "!", "", "é" * 30 + " \u0378 \u202e" + "1" * 30]


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """Craft folders, and tag a few texts with each."""
    with Forks(home) as maker:
        kinds = maker.call(
            models.make, home, sorted({case.kind for case in CASES}), patience=300
        ).value
    chosen = [case for case in CASES if case.kind in kinds]
    random.Random(seed).shuffle(chosen)
    tally.wanted = len(chosen) if tally.wanted >= WHOLE else tally.wanted
    with (home / "some.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text", "n"], *([text, 1] for text in TEXTS)])
    (home / "empty").mkdir()
    with Forks(home, models.warm_up, [home / kind for kind in kinds]) as forks:
        ends = [_tagged(forks, home, home / "empty") for _ in range(9)]
        seconds, grown = (
            statistics.median(values) for values in zip(*((e.ran.seconds, e.grown) for e in ends))
        )
        for number in tally.rounds():
            folder = shutil.copytree(home / chosen[number].kind, home / "m")
            chosen[number].make(folder)
            ended = _tagged(forks, home, folder)
            if (
                ended.ran.seconds > seconds + SECONDS and not ended.ran.hung
            ):  # others may have kept the computer busy
                ended = min(ended, _tagged(forks, home, folder), key=lambda one: one.ran.seconds)
            _judge(tally, chosen[number], ended, home)
            over = ended.ran.seconds - seconds
            tally.require(over < SECONDS, f"{chosen[number].name}: {over:.1f} s beyond a refusal")
            more = ended.grown - grown
            tally.require(
                more < BYTES, f"{chosen[number].name}: {more / 1e6:,.0f} MB beyond a refusal"
            )
            if number % REAL == 0:
                _as_a_user(tally, chosen[number], folder, home, ended.ran.code)
            shutil.rmtree(folder)


def _words(home: Path, folder: Path) -> list[str]:
    return [
        "tag",
        str(folder),
        str(home / "some.csv"),
        "--out",
        str(home / "out.csv"),
        "--overwrite",
    ]


def _tagged(forks: Forks, home: Path, folder: Path) -> Ended:
    (home / "out.csv").unlink(missing_ok=True)
    return forks.call(command, *_words(home, folder), patience=PATIENCE)


def _judge(tally: Tally, case: Crafted, ended: Ended, home: Path) -> None:
    """Refused in one line, or tagged with finite scores; no code run, nothing asked of anybody."""
    tally.add(replace(ended.ran, args=(case.name,)))
    said = ended.ran.err.strip()
    if ended.ran.code == 2:
        tally.note("refused")
        lines = len(said.splitlines())
        tally.require(
            lines == 1 and said.startswith("error: "), f"{case.name}: {lines} lines, {said[:300]!r}"
        )
    elif ended.ran.code == 0:
        tally.note("loads")
        tally.require(
            _finite(home / "out.csv"), f"{case.name}: loads, and gives scores that are not finite"
        )
    elif not ended.ran.faults:
        tally.require(False, f"{case.name}: exit code {ended.ran.code}, {said[-300:]!r}")
    tally.require(not ended.reached, f"{case.name}: reached out, {ended.reached[:2]}")
    tally.require(
        "\x1b" not in ended.ran.out + ended.ran.err,
        f"{case.name}: an escape character reached the terminal",
    )
    ran = [*home.rglob(CANARY), *(home / "hub").rglob("*.py")]
    tally.require(not ran, f"{case.name}: code was run or copied, {ran[:2]}")
    for path in home.rglob(CANARY):
        path.unlink()


def _finite(path: Path) -> bool:
    """Whether there is a row for each text, and all scores are finite."""
    csv.field_size_limit(1 << 30)  # a label may be long
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    column = next(place for place, name in enumerate(header) if name.endswith("_scores"))
    scores = [float(score) for row in rows for score in row[column].split(";") if score]
    return len(rows) == len(TEXTS) and all(map(math.isfinite, scores))


def _as_a_user(tally: Tally, case: Crafted, folder: Path, home: Path, code: int) -> None:
    """The same by the command line itself."""
    (home / "out.csv").unlink(missing_ok=True)
    with environment(home):
        ran = tagwright(*_words(home, folder), patience=PATIENCE)
    tally.add(replace(ran, args=(f"{case.name}, by the command line",)))
    tally.require(
        ran.code == code, f"{case.name}: exit code {ran.code} by the command line, {code} in a fork"
    )
