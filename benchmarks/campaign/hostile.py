"""What hostile data files are made with."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TEXT = "a red tent and a knife"
LABELS = ("camp", "kitchen", "camp;color")


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """A file that is written by `write`. `alike`: `check` and `tag` must say the same of it."""

    what: str
    name: str  # of the file
    write: Callable[[Path], object]
    alike: bool = True
    learn: bool = False  # `fit` and `score` are asked, too
    patience: float = 60.0  # seconds until a command counts as hung
    meanwhile: Callable[[Path], object] | None = None  # what happens to the file while it is read


def raw(content: bytes | str) -> Callable[[Path], object]:
    """These bytes."""
    made = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return lambda path: path.write_bytes(made)


def table(rows: int = 12, **columns: str) -> str:
    """A sound CSV text; `columns` are more of them, each with one value."""
    head = ",".join(["text", "labels", *columns])
    lines = (
        f"{TEXT} {n},{LABELS[n % 3]}" + "".join(f",{one}" for one in columns.values())
        for n in range(rows)
    )
    return "\n".join([head, *lines]) + "\n"


def json_lines(*rows: Any) -> str:
    """Sound lines around these, which are text as it stands or values."""
    sound = [json.dumps({"text": f"{TEXT} {n}", "labels": [LABELS[n % 2]]}) for n in range(6)]
    return (
        "\n".join(
            [*sound, *(one if isinstance(one, str) else json.dumps(one) for one in rows), *sound]
        )
        + "\n"
    )


def sparse(start: bytes, size: int) -> Callable[[Path], object]:
    """A file that begins so, and has NUL bytes up to its size."""

    def write(path: Path) -> None:
        with path.open("wb") as file:
            file.write(start)
            file.truncate(size)

    return write
