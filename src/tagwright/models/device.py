"""Where a run computes, and whether it gives the same bits there."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from tagwright.errors import SettingsError
from tagwright.settings.schema import Settings


@contextmanager
def deterministic(wanted: bool) -> Iterator[None]:
    """Same bits on a GPU, inside the block; cuBLAS reads its setting when it starts."""
    before = torch.are_deterministic_algorithms_enabled()
    if wanted:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def forked_random() -> Iterator[None]:
    """Draws inside leave the global generators as they were: the host's and this process's GPU's.
    Asking every GPU for its state would give each process memory on each."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        yield


def device_of(settings: Settings) -> torch.device:
    """The device that the settings name."""
    return device_named(settings.fit.device)


def device_named(name: str) -> torch.device:
    """The device of this name; "auto" takes an accelerator where there is one."""
    if name != "auto":
        try:
            return torch.empty(0, device=name).device
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise SettingsError(
                f"device {name!r} cannot be used ({reason}); take auto, cpu, cuda or mps"
            ) from None
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def device_name(settings: Settings) -> str:
    device = device_of(settings)
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type} ({platform.machine()}, {torch.get_num_threads()} threads)"
