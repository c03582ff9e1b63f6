"""What stands around the mathematics of every loss: checks before, sparse targets in blocks, reduction after."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypedDict

import torch
from torch import Tensor

from tagwright.errors import ShapeError
from tagwright.losses._blocks import in_blocks
from tagwright.losses._check import check, check_answer
from tagwright.losses._sparse import SparseMask, SparseTarget


class Cells(TypedDict, total=False):
    """What every loss takes beside logits and target."""

    mask: Tensor | SparseMask | None
    positive_weight: Tensor | None
    negative_weight: Tensor | None
    validate: bool


class Loss(Protocol):
    """How a loss is called; its own settings are further keywords."""

    __name__: str

    def __call__(
        self,
        logits: Tensor,
        target: Tensor | SparseTarget,
        *,
        mask: Tensor | SparseMask | None = None,
        positive_weight: Tensor | None = None,
        negative_weight: Tensor | None = None,
        validate: bool = False,
        **settings: Any,
    ) -> Tensor:
        """The values, not reduced."""


def loss(
    *, hard: bool = False, extra_logits: int = 0, batchwise: bool = False, sparse: bool = True
) -> Callable[[Callable[..., Tensor]], Loss]:
    """Decorates the mathematics of dense tensors, which is then checked, and takes sparse targets and masks as well.

    The function gets logits and target as floats of one dtype, at least float32, masked logits at 0. What it declares:
    `hard` targets only, `extra_logits`, values that need the whole batch (`batchwise`), no `sparse` targets.
    """

    def decorate(function: Callable[..., Tensor]) -> Loss:
        def dense(logits: Tensor, target: Tensor, mask: Tensor | None, **others: Any) -> Tensor:
            dtype = torch.promote_types(logits.dtype, torch.float32)
            logits, target = logits.to(dtype), target.to(dtype)
            if mask is not None:
                shown = torch.nn.functional.pad(mask, (0, extra_logits), value=True) if extra_logits else mask
                logits = logits.masked_fill(~shown, 0.0)
            return function(logits, target, mask=mask, **others)

        @wraps(function)
        def called(
            logits: Tensor,
            target: Tensor | SparseTarget,
            *,
            mask: Tensor | SparseMask | None = None,
            positive_weight: Tensor | None = None,
            negative_weight: Tensor | None = None,
            validate: bool = False,
            **settings: Any,
        ) -> Tensor:
            weights = {"positive_weight": positive_weight, "negative_weight": negative_weight}
            check(logits, target, mask, weights, extra_logits=extra_logits, hard=hard, validate=validate)
            if isinstance(target, Tensor) and not isinstance(mask, SparseMask):
                values = dense(logits, target, mask, **weights, **settings)
            elif sparse:
                values = in_blocks(dense, logits, target, mask, {**weights, **settings}, batchwise, extra_logits)
            else:
                raise ShapeError(f"{function.__name__} takes dense targets and masks only; use .dense(L)")
            check_answer(values, logits, mask, validate=validate)
            return values

        called.__signature__ = _public(function)  # type: ignore[attr-defined]
        return called

    return decorate


def _public(function: Callable[..., Tensor]) -> inspect.Signature:
    """The function's signature as a caller sees it: with sparse targets and masks, and `validate`."""
    own = inspect.signature(function)
    shown = {name: p.replace(annotation=_WIDER.get(name, p.annotation)) for name, p in own.parameters.items()}
    validate = inspect.Parameter("validate", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)
    return own.replace(parameters=[*shown.values(), validate])


_WIDER = {"target": Tensor | SparseTarget, "mask": Tensor | SparseMask | None}


def reduced(values: Tensor, example_weight: Tensor | None, reduction: str) -> Tensor:
    """Values (B,) to their (weighted) mean or sum, or as they are for "none". A mean over no weight is 0."""
    if example_weight is not None:
        if example_weight.shape != values.shape:
            raise ShapeError(f"example_weight must be {tuple(values.shape)}, got {tuple(example_weight.shape)}")
        values = values * example_weight
    if reduction == "none":
        return values
    if reduction == "sum":
        return values.sum()
    if example_weight is None:
        return values.sum() / max(values.numel(), 1)
    return values.sum() / example_weight.sum().clamp_min(torch.finfo(values.dtype).tiny)
