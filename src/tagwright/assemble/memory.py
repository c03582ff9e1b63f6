"""Whether the labels' weights fit into memory, asked before they are made: a machine that swaps says nothing."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from tagwright.errors import SettingsError

COPIES = 4  # the weights, their gradient, and Adam's two averages
GIGABYTE = 1e9


def require_memory(learned: Mapping[str, np.ndarray], label_count: int, *, batch: int, device: torch.device) -> None:
    """Refuse more labels than the device has memory for; says nothing where width or memory is not known."""
    free = free_bytes(device)
    if "config.json" not in learned or free is None:
        return
    config = json.loads(bytes(learned["config.json"]))
    width = int(config.get("hidden_size") or config.get("dim") or 0)
    wanted = 4 * label_count * (COPIES * (width + 1) + COPIES * batch)  # float32; logits, loss and their gradients
    if wanted > free:
        raise SettingsError(
            f"{label_count:,} labels on an encoder of width {width} want {wanted / GIGABYTE:,.1f} GB to be trained, "
            f"and {device} has {free / GIGABYTE:,.1f} GB free; take --head-chunk 16384, a smaller fit.batch, or a "
            "narrower encoder"
        )


def free_bytes(device: torch.device) -> int | None:
    """Memory that can still be had on a device, or None where nobody knows."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # only Linux has it
        return None
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return None if found is None else int(found) * 1024
