"""The folder beside a model with the state and reports of its run: what is in it, and what may be
replaced.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypedDict

from tagwright.errors import ModelError
from tagwright.models.distributed import Ranks
from tagwright.storage.files import write_json, write_text
from tagwright.storage.folder import named, require_ours
from tagwright.storage.lock import LOCK, holds_files, locked
from tagwright.training.state import OF_HEAD

PHASES = ("fit", "refit", "teacher")
OUTCOME = "outcome.json"
REPORT = "report.html"  # of the first head; of another its name is in it
MARKS = (*PHASES, OUTCOME, REPORT, LOCK)  # what tells a run folder for ours
STATES = f"{OF_HEAD}*"  # of the teachers of several heads
LASTING = ("report-*.html", "elements-*.csv")  # of several heads, when the run has ended


class Outcome(TypedDict, total=False):
    """What a run came to, as JSON; `tokens` are there where these are tagged, and `heads` where
    there are several.

    The folder of the run also has the `fingerprint` of its data and settings.
    """

    metrics: dict[str, float]
    split: str
    convention: str
    rows: int
    refitted_on: int | None
    tokens: int
    heads: dict[str, dict[str, float]]
    seconds: float
    model: str
    report: str | None
    fingerprint: str


def run_folder(out: Path) -> Path:
    """Where the run of a model folder keeps its state and report."""
    out = named(out)
    return out.with_name(f"{out.name}.run")


def refuse_run(folder: Path, *, may_stand: bool) -> None:
    """Refuse a folder of others, and an unfinished run unless it `may_stand`."""
    require_ours(folder, (*MARKS, *_found(folder, STATES, *LASTING)), "run folder")
    if holds_files(folder) and not may_stand:
        raise ModelError(
            f"an unfinished run stands in {folder}; go on with --resume, or start over with"
            " --overwrite"
        )


@contextmanager
def held_by(ranks: Ranks, folder: Path) -> Iterator[None]:
    """Of several processes the first holds the folder, for all of them."""
    with ExitStack() as held:
        with ranks.together():
            if ranks.first:
                held.enter_context(locked(folder))
        yield


def clear_run(folder: Path) -> None:
    """Remove all that a run leaves in its folder; what a person put there stays."""
    _remove(folder, ("elements.csv", OUTCOME, REPORT, *_found(folder, *LASTING)))
    clear_state(folder)


def clear_state(folder: Path) -> None:
    """Remove what only an unfinished run needs."""
    _remove(folder, (*PHASES, *_found(folder, STATES, ".*.part")))


def write_pages(folder: Path, pages: Mapping[str, str]) -> Path | None:
    """Write reports by their names; the path of the first head's, None where there is none."""
    for name, page in pages.items():
        write_text(folder / name, page)
    return folder / REPORT if pages else None


def write_outcome(folder: Path, content: Outcome) -> None:
    """Keep what a run came to: from here on it is finished."""
    write_json(folder / OUTCOME, content)


def read_outcome(folder: Path) -> Outcome | None:
    """What a finished run came to; None where there is none, or none that can be read."""
    try:
        found: Outcome = json.loads((folder / OUTCOME).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return found


def _found(folder: Path, *patterns: str) -> list[str]:
    return [path.name for pattern in patterns for path in folder.glob(pattern)]


def _remove(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
        if (folder / name).is_file():
            (folder / name).unlink()
