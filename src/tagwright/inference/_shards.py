"""What `tag` has tagged so far: shards in a hidden folder beside the output, with a record of the
run they are of.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tagwright.errors import DataError, SettingsError
from tagwright.storage.files import replaced, write_json
from tagwright.storage.lock import locked, require_free

# model, input and options of the run; once the shards are joined, the stamp of the output as well
ABOUT = "about.json"


@contextmanager
def shards_of(
    out: Path, about: Mapping[str, object], *, resume: bool, overwrite: bool
) -> Iterator[Path]:
    """The folder of what is tagged so far, which no other process has; a block that succeeds
    removes it.
    """
    shards = out.with_name(f".{out.name}.shards")
    require_free(shards)
    _refuse(out, shards, resume=resume, overwrite=overwrite)
    if (shards / ABOUT).exists() and not (overwrite or resume):
        raise SettingsError(
            f"an unfinished run stands in {shards}; go on with --resume, start over with"
            " --overwrite, or delete it"
        )
    with locked(shards):
        _refuse(out, shards, resume=resume, overwrite=overwrite)  # another run may have ended since
        if not resume or not _same_run(shards, about):
            _remove(shards)
            write_json(shards / ABOUT, about)
        yield shards
        _remove(shards)


@contextmanager
def joining(out: Path, shards: Path) -> Iterator[Path]:
    """Gives a path for the joined shards; leaving the block makes it `out`."""
    with replaced(out) as aside:
        yield aside
        # before the file gets its name: after a kill it is known as this run's
        write_json(shards / ABOUT, {**_about(shards), "out": stamp(aside)})


def is_joined(out: Path, shards: Path) -> bool:
    """Whether `out` is what these shards were joined to, unchanged since."""
    return out.is_file() and _about(shards).get("out") == stamp(out)


def stamp(path: Path) -> dict[str, int]:
    """What differs when a file is written again; a rename keeps it."""
    found = path.stat()
    return {"bytes": found.st_size, "changed": found.st_mtime_ns}


def _refuse(out: Path, shards: Path, *, resume: bool, overwrite: bool) -> None:
    """Refuse an output that exists, unless it may be replaced or the run to resume has written
    it.
    """
    if not out.exists() or overwrite or (resume and is_joined(out, shards)):
        return
    if resume and not _about(shards):
        raise SettingsError(
            f"{out} exists, and there is no unfinished run to resume. If this command wrote the"
            " file, it is complete and nothing is left to do. To tag again, choose another name or"
            " use --overwrite"
        )
    raise SettingsError(f"{out} exists; choose another name or use --overwrite")


def _same_run(shards: Path, about: Mapping[str, object]) -> bool:
    """Whether there is a run to go on with; that of another input is an error."""
    found = _about(shards)
    found.pop("out", None)
    if found and found != about:
        raise DataError(
            f"{shards} belongs to another input or model, or to other options; start over with"
            " --overwrite"
        )
    return bool(found)


def _about(shards: Path) -> dict[str, object]:
    """What the shards are of; empty where nobody knows."""
    try:
        found: dict[str, object] = json.loads((shards / ABOUT).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found


def _remove(shards: Path) -> None:
    """Remove what is tagged so far; what it is of comes first, so that nobody goes on with a
    part.
    """
    for path in (shards / ABOUT, *shards.glob("shard-*"), *shards.glob(".*.part")):
        path.unlink(missing_ok=True)
