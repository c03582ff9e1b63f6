"""Free memory of the host: what the system has left, within the limits of a container."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

UNLIMITED = 1 << 60  # without a limit, version 1 of control groups reports more than this


PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def free_host_bytes(proc: Path = PROC, groups: Path = GROUPS) -> int | None:
    """The least of what the machine has free and what its control groups have left; None:
    unknown.
    """
    known = [
        bytes_ for bytes_ in (_of_machine(proc), *_of_groups(proc, groups)) if bytes_ is not None
    ]
    return min(known) if known else None


def _of_machine(proc: Path) -> int | None:
    """What Linux says is available; elsewhere all there is, for no more than that is told."""
    for line in _text(proc / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    if sys.platform == "win32":  # it has no sysconf
        return None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _of_groups(proc: Path, groups: Path) -> Iterator[int | None]:
    """What is left in this process's groups and those around them, of both versions."""
    for line in _text(proc / "self" / "cgroup").splitlines():
        _, _, place = line.partition(":")
        controllers, _, path = place.partition(":")
        if controllers == "":
            root, limit, used = groups, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root, limit, used = groups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        own = root / path.strip("/")
        for folder in (own, *(parent for parent in own.parents if parent.is_relative_to(root))):
            yield _left(folder, limit, used)


def _left(folder: Path, limit: str, used: str) -> int | None:
    """The limit less what is used; pages of files that nobody looked at lately can be had back."""
    most, taken = _text(folder / limit).strip(), _text(folder / used).strip()
    if not most.isdigit() or not taken.isdigit() or int(most) >= UNLIMITED:
        return None
    facts = dict(
        line.split(maxsplit=1) for line in _text(folder / "memory.stat").splitlines() if " " in line
    )
    idle = int(facts.get("total_inactive_file", facts.get("inactive_file", 0)))
    return max(0, int(most) - int(taken) + idle)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:  # another system, or not ours to see
        return ""
