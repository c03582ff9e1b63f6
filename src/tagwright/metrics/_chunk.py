"""What the families share: the two conventions, the checks of a chunk of rows, and the merging of
states.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Literal, Protocol, Self, TypeVar, get_args

import numpy as np

from tagwright.arrays import Bools, Floats, Int, Ints
from tagwright.errors import SettingsError, ShapeError, unknown

Convention = Literal["sklearn", "paper"]
LabelCounts = Sequence[int] | Ints  # (L,): how often each label is true in train
Descriptions = dict[str, tuple[str, bool]]  # metric: (one line, higher is better)
S = TypeVar("S")
A = TypeVar("A", bound="Addable")


class Addable(Protocol):
    """What has a sum with another of its type: numbers, arrays, tuples."""

    def __add__(self, other: Self, /) -> Self:
        """The sum of both."""


def check(scores: Floats, truth: Bools, chosen: Bools) -> None:
    """Refuse what cannot be measured: other shapes than (n, L), truth that is not bool (swapped
    arguments), NaN.
    """
    shapes = {"scores": scores.shape, "truth": truth.shape, "chosen": chosen.shape}
    if scores.ndim != 2 or scores.shape[1] == 0 or len(set(shapes.values())) > 1:
        raise ShapeError(
            f"scores, truth and chosen must share one shape (n, L) with L > 0, got {shapes}"
        )
    kinds = {"scores": scores.dtype.kind, "truth": truth.dtype.kind, "chosen": chosen.dtype.kind}
    if kinds != {"scores": "f", "truth": "b", "chosen": "b"}:
        dtypes = {
            "scores": str(scores.dtype),
            "truth": str(truth.dtype),
            "chosen": str(chosen.dtype),
        }
        raise ShapeError(
            f"scores must be float, truth and chosen bool, in this order; got {dtypes}"
        )
    if np.isnan(scores).any():
        rows = np.flatnonzero(np.isnan(scores).any(axis=1))
        raise ShapeError(
            f"scores must be numbers, got NaN in {len(rows)} rows, first row {rows[0]}; check the"
            " logits"
        )


def is_paper(convention: Convention) -> bool:
    """Whether to score empty rows and labels as the ZLPR paper does; an unknown convention is an
    error.
    """
    if convention not in get_args(Convention):
        raise SettingsError(unknown("convention", convention, get_args(Convention)))
    return convention == "paper"


def merge(first: S, second: S) -> S:
    """Add two states of one family field by field: numbers and arrays sum up, tuples of chunks are
    joined.
    """
    if type(first) is not type(second):
        raise ShapeError(
            f"cannot add {type(second).__name__} to {type(first).__name__}; add states of one"
            " family"
        )
    names = [field.name for field in fields(first)]  # type: ignore[arg-type]
    return type(first)(
        **{name: _add(getattr(first, name), getattr(second, name)) for name in names}
    )


def mean(total: float | Int, count: int) -> float:
    """total / count, NaN where nothing was counted: no rows have no mean."""
    return float(total / count) if count else float("nan")


def _add(first: A, second: A) -> A:
    shapes = [one.shape if isinstance(one, np.ndarray) else None for one in (first, second)]
    if shapes[0] != shapes[1]:  # numpy would spread a single label over all
        raise ShapeError(
            f"states must be of the same labels, got arrays of shape {shapes[0]} and {shapes[1]}"
        )
    return first + second
