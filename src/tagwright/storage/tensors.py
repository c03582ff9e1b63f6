"""Tensors of a sealed folder: known by their file's header before they are read, and given to a
network they fit.
"""

import math
import os
from collections.abc import Mapping
from io import BufferedReader
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor, nn

from tagwright.arrays import Numbers
from tagwright.errors import ModelError, some
from tagwright.storage.checked import CURE, SMALL, readable

T = TypeVar("T", bound=Numbers | Tensor)
# as a file names them, and as torch does
TYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
}


class Header(Protocol):
    """A tensor in an open file, before it is read."""

    def get_dtype(self) -> str:
        """The name of its type, as `TYPES` has it."""

    def get_shape(self) -> list[int]:
        """Its shape."""


class Form(NamedTuple):
    """What a header says of a tensor."""

    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


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
            names: list[str] = list(self._found.keys())
            self.forms = {name: _form(self._found.get_slice(name)) for name in names}

    def content(self) -> dict[str, T]:
        """All tensors. One with a number that is not finite is an error."""
        with readable(self.path):
            found: dict[str, T] = {name: self._found.get_tensor(name) for name in self.forms}
        strange = [name for name, tensor in found.items() if not _finite(tensor)]
        if strange:
            raise ModelError(
                f"{self.path} has numbers that are not finite, in {some(strange)}; make the folder"
                " anew"
            )
        return found


def require_fit(network: nn.Module, tensors: Tensors[Tensor]) -> None:
    """Refuse tensors that are not just the weights of a network, by their header alone."""
    wanted = {
        name: Form(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
        for name, tensor in network.state_dict().items()
    }
    faults = _faults(tensors.forms, wanted)
    if faults:
        said = "are not those that its settings ask for"
        raise ModelError(f"the weights in {tensors.path} {said}: {some(faults)}; {CURE}")


def fill(network: nn.Module, tensors: Tensors[Tensor]) -> None:
    """Give a network its weights, which must fit it."""
    network.load_state_dict(tensors.content())


def _faults(found: Mapping[str, Form], wanted: Mapping[str, Form]) -> list[str]:
    """What is wrong with the names, types and shapes of weights."""
    other = [
        f"{name} is {found[name]} and must be {form}"
        for name, form in wanted.items()
        if name in found and found[name] != form
    ]
    missing = [f"{name} is missing" for name in wanted if name not in found]
    return other + missing + [f"{name} is unknown" for name in found if name not in wanted]


def _form(header: Header) -> Form:
    dtype = header.get_dtype()
    return Form(TYPES.get(dtype, dtype), tuple(header.get_shape()))


def _finite(tensor: Numbers | Tensor) -> bool:
    """Whether all numbers of a tensor are finite; makes no tensor of its size."""
    if isinstance(tensor, np.ndarray):
        ends = (tensor.min(), tensor.max()) if tensor.size else ()
    elif tensor.is_floating_point() and tensor.numel():
        ends = torch.aminmax(tensor)
    else:
        ends = ()
    return all(math.isfinite(end) for end in map(float, ends))
