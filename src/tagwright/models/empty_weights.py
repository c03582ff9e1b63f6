"""Networks before their weights are loaded: no larger than these, and not drawn, for all is
overwritten.

The settings in a model folder may come from anybody. Without a bound, a number of layers or a width
in them could keep a computer busy for hours, or take all its memory, before anything is compared
with the weights.
"""

from collections.abc import Collection, Iterable, Mapping
from math import prod
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from tagwright.errors import ModelError

# that a network may be made with: for each number of its weights, and for each tensor of them
CELLS, CALLS = (
    2,
    16,
)
FREE_CELLS, FREE_CALLS = 2**22, 2**12  # the same for any network
# functions that make a tensor: of a size, as one sequence or number by number, or along a line
SIZED = {torch.empty, torch.full, torch.ones, torch.rand, torch.randint, torch.randn, torch.zeros}
# torch asks a mode about these as a whole
DRAWN = {
    nn.init.kaiming_uniform_,
    nn.init.normal_,
    nn.init.uniform_,
}
LINES = {torch.arange, torch.linspace, torch.randperm}


class Function(Protocol):
    """Any function of torch's."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Its answer."""


class EmptyWeights(TorchFunctionMode):
    """Inside the block a tensor is made only if weights of these `shapes` have room for it; else it
    is a ModelError.

    The largest networks that the weights have room for take little more than their own size.
    """

    def __init__(self, shapes: Collection[tuple[int, ...]]) -> None:
        super().__init__()
        self.cells: float = FREE_CELLS + CELLS * sum(map(prod, shapes))
        self.calls = FREE_CALLS + CALLS * len(shapes)

    def __torch_function__(
        self,
        func: Function,
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """What torch calls in place of `func`, which says what its arguments are."""
        kwargs = kwargs or {}
        if func in DRAWN:
            return cast(Tensor, args[0] if args else kwargs["tensor"]).detach().zero_()
        if func in SIZED:
            self._count(
                prod(cast(Iterable[int], kwargs["size"] if "size" in kwargs else _size(args)))
            )
            func = cast(Function, torch.zeros) if func is torch.randn else func
        elif func in LINES:
            self._count(max(map(abs, cast(tuple[float, ...], args)), default=0))
        return func(*args, **kwargs)

    def _count(self, cells: float) -> None:
        """Refuse what is too much, before it is made."""
        self.cells -= cells
        self.calls -= 1
        if self.cells < 0 or self.calls < 0:
            raise ModelError("they ask for more tensors, or larger ones, than the weights have")


def _size(args: tuple[object, ...]) -> object:
    return next((one for one in args if isinstance(one, list | tuple)), args)
