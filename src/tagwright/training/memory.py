"""What does not fit into memory: asked before it is made where a machine would swap, cut or
explained where not.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.settings.schema import Settings

GIGABYTE = 1e9
PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60  # without a limit, version 1 of control groups reports more than this


def require_soft_memory(row_count: int, label_count: int) -> None:
    """Refuse soft labels, a value for every text and label, that the host's memory does not
    hold.
    """
    wanted, free = 4 * row_count * label_count, free_bytes(torch.device("cpu"))  # float32
    if free is not None and wanted > free:
        raise SettingsError(
            f"soft labels of {row_count:,} texts and {label_count:,} labels want"
            f" {wanted / GIGABYTE:,.1f} GB, and {free / GIGABYTE:,.1f} GB are free; take targets"
            " hard, or fewer texts or labels"
        )


def crowded(parts: int, rows: int, settings: Settings, say: Callable[[str], None]) -> int:
    """Twice as many parts of a batch of so many rows, after a device's memory did not hold one;
    says so.
    """
    at_once = -(-rows // parts)
    what = f"the GPU's memory does not hold {at_once} {'texts' if at_once > 1 else 'text'} at once"
    if parts >= rows:
        raise SettingsError(f"{what}; take a smaller fit.limit or a smaller encoder")
    losses = [settings.of(head).loss.name for head in settings.heads] or [settings.loss.name]
    batchwise = [loss for loss in losses if registry.find(registry.LOSSES, loss).factory.batchwise]
    if batchwise:
        raise SettingsError(
            f"{what}, and {batchwise[0]} looks at a whole batch; take a smaller fit.batch"
        )
    torch.cuda.empty_cache()
    say(
        f"{what}: batches are computed in {2 * parts} parts from here on (fit.accumulate), which"
        " add up to the same"
    )
    return 2 * parts


@contextmanager
def explained() -> Iterator[None]:
    """A device that runs out of memory is a mistake in what was asked of it."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        short = str(error).split(". GPU")[0]
        raise SettingsError(
            f"the GPU's memory does not hold this model and what its training takes ({short}); take"
            "  a smaller encoder, encoder.freeze or encoder.lora, or a smaller fit.limit"
        ) from None


def free_bytes(device: torch.device) -> int | None:
    """Memory that can still be had on a device, or None where nobody knows."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    return free_host_bytes()


class Peak:
    """The most memory that is taken from here on: of a GPU, or of this process where it computes on
    the host.
    """

    def __init__(self, device: torch.device) -> None:
        self.device, self.known = device, True
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            self.known = _forget_peak()

    def bytes(self) -> int | None:
        """So many, or None where nobody knows."""
        if self.device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self.device))
        lines = (
            Path("/proc/self/status").read_text(encoding="ascii").splitlines() if self.known else []
        )
        found = next((line.split()[1] for line in lines if line.startswith("VmHWM:")), None)
        return None if found is None else int(found) * 1024


def _forget_peak() -> bool:
    """Linux starts its mark of the most memory anew, where it may be asked to."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


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
