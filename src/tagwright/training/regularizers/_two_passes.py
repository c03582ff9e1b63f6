"""A batch twice over: two passes as one, whose rows draw their own dropout; and the halves of what
came of it.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import torch
from torch import Tensor

T = TypeVar("T")


def doubled(given: T) -> T:
    """Every tensor of a batch, all rows and then all rows again; counts of windows as well.

    >>> doubled((torch.tensor([1, 2]), None))
    (tensor([1, 2, 1, 2]), None)
    """
    return _each(given, lambda tensor: torch.cat([tensor, tensor]))


def first_half(given: T) -> T:
    """The rows of the first of two passes, of every tensor."""
    return _each(given, lambda tensor: tensor[: len(tensor) // 2])


def second_half(given: T) -> T:
    """The rows of the second of two passes."""
    return _each(given, lambda tensor: tensor[len(tensor) // 2 :])


def _each(given: T, change: Callable[[Tensor], Tensor]) -> T:
    """Tensors inside tuples, named or not, and mappings; anything else stays as it is."""
    found: object = given
    if isinstance(given, Tensor):
        found = change(given)
    elif isinstance(given, dict):
        found = {name: _each(value, change) for name, value in given.items()}
    elif isinstance(given, tuple):
        parts = [_each(value, change) for value in given]
        found = tuple(parts) if type(given) is tuple else type(given)(*parts)
    return cast(T, found)
