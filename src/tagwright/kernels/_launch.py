"""Launching a kernel without looking at everything anew.

Triton's own launch asks of every argument, at every call, what the kernel could be compiled for.
That costs three times the launch itself, and more than eager PyTorch's loss where a batch is small.
So a compiled kernel is kept, by all that decides which one it is.
"""

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor


class Launch(Protocol):
    """A kernel with its grid."""

    def __call__(self, *arguments: object, **constants: object) -> "Kernel | None":
        """Run it."""


class Kernel(Protocol):
    """A function of Triton's; with a grid it can be called."""

    def __getitem__(self, grid: tuple[int, ...], /) -> Launch:
        """The kernel in so many programs."""


_compiled: dict[tuple[object, ...], Kernel] = {}


def launch(
    kernel: Kernel,
    programs: int,
    arguments: tuple[object, ...],
    constants: Mapping[str, object],
    warps: int,
) -> None:
    """Run `programs` programs of the kernel; the constants stand last in its signature, in this
    order.
    """
    key = (kernel, warps, *constants.values(), *map(_kind, arguments))
    known = _compiled.get(key)
    if known is None:
        made = kernel[(programs,)](*arguments, **constants, num_warps=warps)
        if made is not None:  # the interpreter compiles nothing
            _compiled[key] = made
    else:
        known[(programs, 1, 1)](*arguments, *constants.values())


def _kind(argument: object) -> object:
    """What decides on the compiled kernel: dtype, device and alignment of a tensor, of a number
    what Triton asks.
    """
    if isinstance(argument, Tensor):
        return argument.dtype, argument.get_device(), argument.data_ptr() % 16 == 0
    if isinstance(argument, int):
        return argument == 1, argument % 16 == 0, argument < 2**31
    return type(argument)
