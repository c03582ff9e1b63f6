"""What stands around the mathematics of every loss: checks before, sparse targets in blocks,
reduction after.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import NamedTuple, Protocol, TypedDict, Unpack, cast

import torch
from torch import Tensor

from tagwright import kernels
from tagwright.errors import ShapeError
from tagwright.loss_math.blocks import in_blocks
from tagwright.loss_math.check import check, check_answer, marked
from tagwright.loss_math.reduction import reduced
from tagwright.loss_math.sparse import SparseMask, SparseTarget, soft_of
from tagwright.loss_math.terms import divisor
from tagwright.registry import P


class Cells(TypedDict, total=False):
    """What every loss takes beside logits and target."""

    mask: Tensor | SparseMask | None
    positive_weight: Tensor | None
    negative_weight: Tensor | None
    validate: bool


# arguments of the mathematics that are no settings
BESIDE = {"logits", "target", "mask", "positive_weight", "negative_weight", "example_weight"}


class Bounds(TypedDict):
    """What a loss's checks depend on."""

    extra_logits: int
    hard: bool


class Called(Protocol):
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
        **settings: object,
    ) -> Tensor:
        """The values, not reduced."""


class Loss(Called, Protocol):
    """A loss, and what its module calls."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of its own settings."""

    @property
    def total(self) -> partial[Tensor]:
        """The same with `example_weight`, `reduction` and `factor`: the values reduced."""


class Mathematics(Protocol):
    """What a loss's file defines, of dense tensors: its own settings are further keywords."""

    __name__: str

    def __call__(
        self, logits: Tensor, target: Tensor, *, mask: Tensor | None, **settings: object
    ) -> Tensor:
        """The values, not reduced."""


class Declaration(TypedDict, total=False):
    """The fields of `Declared`."""

    hard: bool
    extra_logits: int
    batchwise: bool
    sparse: bool
    marks: bool


class Declared(NamedTuple):
    """What a loss says of itself."""

    hard: bool = False  # targets of 0 and 1 only
    extra_logits: int = 0
    batchwise: bool = False  # its values need the whole batch
    sparse: bool = True  # takes sparse targets and masks
    # marks infinite logits itself, for its fused form shows them without a look at all logits
    marks: bool = False


def loss(**given: Unpack[Declaration]) -> Callable[[Callable[P, Tensor]], Loss]:
    """Decorates the mathematics of dense tensors, which is then checked, and takes sparse targets
    and masks as well.

    The function gets logits and target as floats of one dtype, at least float32, masked logits at
    0; what is `given` are the fields of `Declared`.
    """
    declared = Declared(**given)
    bounds = Bounds(extra_logits=declared.extra_logits, hard=declared.hard)

    def decorate(function: Callable[P, Tensor]) -> Loss:
        @wraps(function)
        def called(
            logits: Tensor,
            target: Tensor | SparseTarget,
            *,
            mask: Tensor | SparseMask | None = None,
            positive_weight: Tensor | None = None,
            negative_weight: Tensor | None = None,
            validate: bool = False,
            **settings: object,
        ) -> Tensor:
            weights = {"positive_weight": positive_weight, "negative_weight": negative_weight}
            check(logits, target, mask, weights, **bounds, validate=validate)
            values_of = partial(plain, target=target, mask=mask, **weights, **settings)
            served = kernels.serves(name, logits, (soft_of(target), *weights.values()), settings)
            if served:
                values = kernels.values(
                    values_of, name, logits, target, mask, weights, {**defaults, **settings}
                )
            else:
                values = values_of(logits)
            if served or validate:
                check_answer(values, logits, mask, validate=validate)
            return values

        # settings are those that its signature has: whoever calls it looks there
        plain = partial(_plain, cast(Mathematics, function), declared)
        name = function.__name__
        defaults = {
            n: p.default
            for n, p in inspect.signature(function).parameters.items()
            if p.default is not p.empty
        }
        own = inspect.signature(function).parameters.keys() - BESIDE
        vars(called).update(
            __signature__=_public(function),
            settings=tuple(sorted(own)),
            total=partial(_total, called, plain, defaults, bounds),
        )
        return cast(Loss, called)

    return decorate


def _plain(
    function: Mathematics,
    declared: Declared,
    logits: Tensor,
    *,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    **settings: object,
) -> Tensor:
    """The values without kernels: of dense targets and masks at once, of sparse ones in blocks."""
    dense = partial(_dense, function, declared)
    if isinstance(target, Tensor) and not isinstance(mask, SparseMask):
        return dense(logits, target, mask, **settings)
    if not declared.sparse:
        raise ShapeError(f"{function.__name__} takes dense targets and masks only; use .dense(L)")
    return in_blocks(
        dense, logits, target, mask, settings, declared.batchwise, declared.extra_logits
    )


def _dense(
    function: Mathematics,
    declared: Declared,
    logits: Tensor,
    target: Tensor,
    mask: Tensor | None,
    **settings: object,
) -> Tensor:
    dtype = torch.promote_types(logits.dtype, torch.float32)
    logits, target = logits.to(dtype), target.to(dtype)
    if mask is not None:
        extra = declared.extra_logits
        shown = torch.nn.functional.pad(mask, (0, extra), value=True) if extra else mask
        logits = logits.masked_fill(~shown, 0.0)
    values = function(logits, target, mask=mask, **settings)
    return values if declared.marks else marked(values, logits, batchwise=declared.batchwise)


def _total(
    called: Called,
    plain: partial[Tensor],
    defaults: Mapping[str, object],
    bounds: Bounds,
    logits: Tensor,
    target: Tensor | SparseTarget,
    *,
    example_weight: Tensor | None,
    reduction: str,
    factor: float = 1.0,
    mask: Tensor | SparseMask | None = None,
    validate: bool = False,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
    **given: object,
) -> Tensor:
    """`factor` times the values of a loss, reduced; by a kernel both in one, with the gradient."""
    weights = {"positive_weight": positive_weight, "negative_weight": negative_weight}
    fixed, name = (soft_of(target), *weights.values(), example_weight), called.__name__
    plain = partial(plain, target=target, mask=mask, **weights, **given)

    def whole(values: Tensor) -> Tensor:
        return reduced(values if factor == 1 else values * factor, example_weight, reduction)

    def again(logits: Tensor) -> Tensor:
        return whole(plain(logits))

    # not of float16: what a mean leaves of a gradient may be too small for it before a scaler has
    # enlarged it
    if (
        reduction != "none"
        and kernels.serves(name, logits, fixed, given)
        and logits.dtype != torch.float16
    ):
        check(logits, target, mask, weights, **bounds, validate=validate)
        share, scale = _shares(example_weight, len(logits), reduction)
        given = {**defaults, **given}
        value = kernels.reduced(
            again, name, logits, target, mask, weights, given, share, factor * scale
        )
        check_answer(value, logits, mask, validate=validate)
        return value
    return whole(
        called(
            logits,
            target,
            mask=mask,
            positive_weight=positive_weight,
            negative_weight=negative_weight,
            validate=validate,
            **given,
        )
    )


def _public(function: Callable[P, Tensor]) -> inspect.Signature:
    """The function's signature as a caller sees it: with sparse targets and masks, and
    `validate`.
    """
    own = inspect.signature(function)
    shown = {
        name: p.replace(annotation=_WIDER.get(name, p.annotation))
        for name, p in own.parameters.items()
    }
    validate = inspect.Parameter(
        "validate", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool
    )
    return own.replace(parameters=[*shown.values(), validate])


def _shares(
    example_weight: Tensor | None, rows: int, reduction: str
) -> tuple[Tensor | None, float]:
    """What a row's value counts, as a tensor (B,) and a factor of all."""
    if example_weight is not None and example_weight.shape != (rows,):
        raise ShapeError(f"example_weight must be {(rows,)}, got {tuple(example_weight.shape)}")
    if reduction == "sum":
        return example_weight, 1.0
    if example_weight is None:
        return None, 1 / rows
    weight = example_weight.float()
    return weight / divisor(weight.sum()), 1.0


_WIDER = {"target": Tensor | SparseTarget, "mask": Tensor | SparseMask | None}
