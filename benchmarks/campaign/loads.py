"""Readers beside a writer: what they load is one model or the other, whole, and they leave the
folder alone.
"""

import multiprocessing
import os
import sys
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from campaign import models
from campaign.forks import Forks, environment
from campaign.tally import Tally

READERS = 2
BLOCK = 50  # loads that a reader tells of at a time
KINDS = ("cnn", "bow")  # networks without a part in common: nothing of a mixture fits
CHANGES = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
)
CHANGES = (*CHANGES, "os.utime", "shutil.rmtree", "shutil.move", "shutil.copyfile")


def run(tally: Tally, home: Path, *, seed: int) -> None:
    """One process saves two models in turn, and rewrites their decisions; two others load what is
    there.
    """
    with Forks(home) as maker:
        maker.call(models.make, home, list(KINDS), patience=300)
    (home / "link").symlink_to("m")
    context = multiprocessing.get_context("spawn")
    stop, writing, reading = context.Event(), context.Pipe(duplex=False), []
    with environment(home):
        writer = context.Process(target=_write, args=(home, writing[1], stop), daemon=True)
        writer.start()
        known: dict[str, str] = writing[0].recv()
        readers = [_reader(context, home, stop, reading) for _ in range(READERS)]
    _gather(tally, reading, known)
    stop.set()
    tally.notes["saves"] = writing[0].recv()
    for process in [writer, *readers]:
        process.join(30)
        tally.require(process.exitcode == 0, f"a process ended with {process.exitcode}")
    names = sorted(path.name for path in home.glob(".*") if path.name != ".m.lock")
    tally.require(not names, f"left beside the folder: {names}")


def _reader(context: Any, home: Path, stop: Any, pipes: list[Connection]) -> Any:
    here, there = context.Pipe(duplex=False)
    folders = [home / "m", home / "m", home / "link"]
    process = context.Process(target=_read, args=(folders, there, stop), daemon=True)
    process.start()
    there.close()
    pipes.append(here)
    return process


def _gather(tally: Tally, pipes: list[Connection], known: dict[str, str]) -> None:
    """Count what the readers tell, until it is enough."""
    told: list[tuple[str, float]] = []
    for _ in tally.rounds():
        while not told:
            ready = wait(pipes, timeout=120)
            if not ready:
                tally.require(False, "no reader has told of anything for two minutes")
                return
            for pipe in ready:
                told += pipe.recv()  # type: ignore[attr-defined]
        digest, seconds = told.pop()
        tally.seconds = max(tally.seconds, seconds)
        tally.note(known.get(digest, "another model or an error"))
        tally.require(digest in known, f"loaded what nobody has saved: {digest[:500]}")


def _read(folders: list[Path], pipe: Connection, stop: Any) -> None:
    """Load again and again, by the folder and by a link to it; tell what came, some at a time."""
    import torch

    from tagwright.inference import model_folder

    torch.set_num_threads(1)
    changed: list[str] = []
    sys.addaudithook(lambda event, given: _heard(event, given, str(folders[0].parent), changed))
    number = 0
    while not stop.is_set():
        told = []
        for _ in range(BLOCK):
            began = time.monotonic()
            try:
                said = _digest(model_folder.load(folders[number % len(folders)]))
                model_folder.load_card(folders[number % len(folders)])
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            told.append(
                (
                    said if not changed else f"a reader changed {changed[:3]}",
                    time.monotonic() - began,
                )
            )
            number += 1
        try:
            pipe.send(told)
        except BrokenPipeError:
            return


def _write(home: Path, pipe: Connection, stop: Any) -> None:
    """Save one model, then the other, each with two decisions; half of the time as where folders
    cannot be swapped.
    """
    import torch

    from tagwright import registry
    from tagwright.inference import model_folder
    from tagwright.storage import folder

    torch.set_num_threads(1)
    given = {name: model_folder.load(home / name) for name in KINDS}
    known = {_digest(model): name for name, model in given.items()}
    decided = {
        name: _with_decision(model, registry.build("decisions", "topk", {"k": 1}))
        for name, model in given.items()
    }
    known |= {_digest(model): f"{name}, decided anew" for name, model in decided.items()}
    model_folder.save(given[KINDS[0]], home / "m", card=KINDS[0])
    pipe.send(known)
    swap, count = folder.exchanged, 0
    while not stop.is_set():
        folder.exchanged = swap if count % 2 else lambda one, other: False
        for name in KINDS:
            model_folder.save(given[name], home / "m", card=name, overwrite=True)
            model_folder.rewrite(decided[name], home / "m", card=f"{name}, decided anew")
        count += 1
    pipe.send(4 * count)


def _with_decision(model: Any, decision: Any) -> Any:
    from dataclasses import replace

    heads = {
        name: replace(head, rule="topk", decision=decision) for name, head in model.heads.items()
    }
    return replace(model, heads=heads)


def _digest(model: Any) -> str:
    return "-".join(models.fingerprint(model).values())


def _heard(event: str, given: tuple[Any, ...], home: str, changed: list[str]) -> None:
    """Note what changes anything in the folder, or beside it."""
    writing = (
        event == "open"
        and isinstance(given[2], int)
        and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    )
    if (event in CHANGES or writing) and any(home in str(one) for one in given):
        changed.append(f"{event} {str(given)[:200]}")
