"""What does not fit into memory: asked before it is made where a machine would swap, cut or
explained where not.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from tagwright.errors import SettingsError
from tagwright.registry import find
from tagwright.settings.schema import Settings
from tagwright.training.free_memory import free_host_bytes

GIGABYTE = 1e9


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
    batchwise = [loss for loss in losses if find("losses", loss).factory.batchwise]
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
