"""Tensors of a sealed folder: known by their file's header before they are read, and given to a
network they fit.
"""

import math
import os
from collections.abc import Mapping
from io import BufferedReader
from typing import Generic, Literal, TypeVar

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor, nn

from tagwright.errors import ModelError, some
from tagwright.storage.untrusted import CURE, SMALL, readable

T = TypeVar("T", np.ndarray, Tensor)


class Tensors(Generic[T]):
    """The tensors in an open file; nothing but its header is read at first."""

    def __init__(self, file: BufferedReader, framework: Literal["np", "pt"]) -> None:
        self.path = file.name
        with readable(self.path):
            file.seek(0)
            header = int.from_bytes(file.read(8), "little")
            if header > SMALL:
                raise ValueError(f"its header has {header:,} bytes")
            # by the open file and not by its path, where another file may be by now; where there is
            # no name for open files, they cannot be replaced
            same = f"/dev/fd/{file.fileno()}"
            self._found = safe_open(
                same if os.path.exists(same) else file.name, framework=framework
            )
            self.names: list[str] = list(self._found.keys())

    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of every tensor."""
        return [tuple(self._found.get_slice(name).get_shape()) for name in self.names]

    def content(self) -> dict[str, T]:
        """All tensors. One with a number that is not finite is an error."""
        with readable(self.path):
            found: dict[str, T] = {name: self._found.get_tensor(name) for name in self.names}
        strange = [name for name, tensor in found.items() if not _finite(tensor)]
        if strange:
            raise ModelError(
                f"{self.path} has numbers that are not finite, in {some(strange)}; make the folder"
                " anew"
            )
        return found


def fill(network: nn.Module, tensors: Tensors[Tensor]) -> None:
    """Give a network its weights, which must be just those that it has."""
    weights, wanted = tensors.content(), network.state_dict()
    faults = _faults(weights, wanted)
    if faults:
        said = "are not those that its settings ask for"
        raise ModelError(f"the weights in {tensors.path} {said}: {some(faults)}; {CURE}")
    network.load_state_dict(weights)


def _faults(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> list[str]:
    """What is wrong with the names, types and shapes of weights."""
    other = [
        f"{name} is {_described(found[name])} and must be {_described(tensor)}"
        for name, tensor in wanted.items()
        if name in found
        and (found[name].shape != tensor.shape or found[name].dtype != tensor.dtype)
    ]
    missing = [f"{name} is missing" for name in wanted if name not in found]
    return other + missing + [f"{name} is unknown" for name in found if name not in wanted]


def _described(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"


def _finite(tensor: np.ndarray | Tensor) -> bool:
    """Whether all numbers of a tensor are finite."""
    if isinstance(tensor, np.ndarray):
        return bool(np.isfinite(tensor).all())
    if not tensor.is_floating_point() or not tensor.numel():
        return True
    # makes no tensor of its size
    return all(math.isfinite(end) for end in map(float, torch.aminmax(tensor)))
