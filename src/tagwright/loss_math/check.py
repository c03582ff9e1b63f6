"""What every loss checks of its tensors: shape and dtype always, values where looking costs
nothing.
"""

import math

import torch
from torch import Tensor

from tagwright.errors import SettingsError, ShapeError
from tagwright.loss_math.sparse import SparseMask, SparseTarget, check_sparse

REDUCTIONS = ("mean", "sum", "none")
NO_NUMBER = "logits hold NaN or infinity; look at the learning rate or the input before the loss"


def check(
    logits: Tensor,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    weights: dict[str, Tensor | None],
    *,
    extra_logits: int = 0,
    hard: bool = False,
    validate: bool = False,
) -> None:
    """Raise where the tensors do not fit; `hard` where the loss knows gold labels and others, and
    nothing between.

    Values are looked at in eager mode on a CPU, or with `validate`: elsewhere it would wait for the
    device.
    """
    if not isinstance(logits, Tensor) or logits.ndim != 2 or not logits.is_floating_point():
        found = (
            f"{logits.dtype} {tuple(logits.shape)}"
            if isinstance(logits, Tensor)
            else type(logits).__name__
        )
        raise ShapeError(f"logits must be a floating tensor (B, L), got {found}")
    shape = (logits.shape[0], logits.shape[1] - extra_logits)
    if shape[1] < 1:
        beside = ", of which one is the threshold's" if logits.shape[1] else ""
        raise ShapeError(
            f"a loss needs at least one label, got logits {tuple(logits.shape)}{beside}"
        )
    look = validate or _free_to_look(logits)
    if isinstance(target, SparseTarget):
        check_sparse("target", target, shape, values=look)
    else:
        _check_target(logits, target, shape)
    if isinstance(mask, SparseMask):
        check_sparse("mask", mask, shape, values=look)
    elif mask is not None and (mask.dtype != torch.bool or mask.shape != shape):
        raise ShapeError(
            f"mask must be bool {shape}, True where a term takes part, got {mask.dtype}"
            f" {tuple(mask.shape)}"
        )
    for name, weight in weights.items():
        if weight is not None and not _broadcasts(weight, shape):
            raise ShapeError(
                f"{name} must broadcast to {shape}: (L,), (B, 1) or (B, L), got"
                f" {tuple(weight.shape)}"
            )
    if look:
        _check_values(logits, target, weights, hard=hard)


def check_answer(
    values: Tensor, logits: Tensor, mask: Tensor | SparseMask | None, *, validate: bool = False
) -> None:
    """Raise where the values hold NaN because the logits are no numbers."""
    looks = validate or _free_to_look(logits)
    if looks and values.detach().isnan().any():
        refuse_no_numbers(_seen(logits, mask))


def refuse_no_numbers(logits: Tensor) -> None:
    """Raise if logits hold NaN or infinity: asked where a sum is infinite, as it may be of finite
    ones too.
    """
    if not logits.isfinite().all():
        raise ShapeError(NO_NUMBER)


def marked(values: Tensor, logits: Tensor, *, batchwise: bool = False) -> Tensor:
    """The values; where the logits of a row hold NaN or infinity, NaN, or an error where looking
    costs nothing.

    The mathematics alone does not show it: a gold label with the logit infinity has the loss 0.
    Masked logits are 0.
    """
    if _free_to_look(logits):
        if not math.isfinite(logits.detach().sum().item()):  # the quickest look there is
            refuse_no_numbers(logits)
        return values
    largest = torch.linalg.vector_norm(logits.detach(), torch.inf, dim=-1)
    return torch.add(values, largest.sum() if batchwise else largest, alpha=0)


def _check_target(logits: Tensor, target: Tensor, shape: tuple[int, int]) -> None:
    if not isinstance(target, Tensor):
        raise ShapeError(f"target must be a tensor or a SparseTarget, got {type(target).__name__}")
    if target.shape != shape:
        wanted = f"logits {tuple(logits.shape)}"
        if shape != logits.shape:
            wanted = f"{shape}, the logits {tuple(logits.shape)} less the threshold's"
        raise ShapeError(
            f"target must match {wanted}, got {tuple(target.shape)}; make it multi-hot with"
            " LabelSpace.encode"
        )
    if not (target.is_floating_point() or target.dtype == torch.bool):
        raise ShapeError(
            f"target must be a float or bool tensor, got {target.dtype}; class numbers must become"
            " one-hot first"
        )


def _check_values(
    logits: Tensor,
    target: Tensor | SparseTarget,
    weights: dict[str, Tensor | None],
    *,
    hard: bool,
) -> None:
    with torch.no_grad():
        given = target.values if isinstance(target, SparseTarget) else target
        if given is not None and given.dtype != torch.bool and given.numel():
            low, high = (end.item() for end in torch.aminmax(given))
            if not (low >= 0 and high <= 1):
                swapped = logits.numel() and logits.min() >= 0 and logits.max() <= 1
                hint = "; are logits and target swapped?" if swapped else ""
                raise ShapeError(f"target must lie in [0, 1], got {low:.4g} to {high:.4g}{hint}")
            if hard and not is_hard(given):
                raise ShapeError(
                    "this loss takes targets of 0 and 1 only; soft ones need bce, zlpr or another"
                    " soft loss"
                )
        if isinstance(target, SparseTarget) and not 0 <= target.background <= (0 if hard else 1):
            raise ShapeError(
                f"background of target must be {'0' if hard else 'in [0, 1]'}, got"
                f" {target.background}"
            )
        for name, weight in weights.items():
            if weight is not None and weight.numel() and not weight.min() >= 0:
                raise ShapeError(f"{name} must not be negative, got {weight.min():.4g}")


def _seen(logits: Tensor, mask: Tensor | SparseMask | None) -> Tensor:
    if mask is None:
        return logits
    seen = mask.dense(logits.shape[1]) if isinstance(mask, SparseMask) else mask
    return logits[:, : seen.shape[1]].masked_fill(~seen, 0.0)


def is_hard(target: Tensor) -> bool:
    """Whether all targets, which lie in [0, 1], are 0 or 1: of numbers between, the square is
    smaller.
    """
    return not target.numel() or bool(torch.addcmul(target, target, target, value=-1).amax() == 0)


def _broadcasts(weight: Tensor, shape: tuple[int, int]) -> bool:
    if weight.ndim > 2:
        return False
    return all(mine in (1, whole) for mine, whole in zip(reversed(weight.shape), reversed(shape)))


def _free_to_look(tensor: Tensor) -> bool:
    """Whether values can be asked for at no cost: not on a device, not while compiling, not inside
    torch.func.
    """
    return tensor.device.type == "cpu" and eager(tensor)


def eager(tensor: Tensor) -> bool:
    """Whether this is a plain call, neither compiled nor inside a transform of torch.func nor in
    forward mode.
    """
    if torch.compiler.is_compiling() or torch.autograd.forward_ad._current_level >= 0:
        return False
    return not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def chosen(name: str, value: str, choices: tuple[str, ...]) -> str:
    """The value, if it is one of the choices."""
    if value not in choices:
        raise SettingsError(
            f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, got {value!r}"
        )
    return value


def at_least(name: str, value: float, least: float) -> float:
    """The value, if it is not below the least."""
    if not value >= least:
        raise SettingsError(f"{name} must be at least {least:g}, got {value}")
    return value


def above(name: str, value: float, bound: float) -> float:
    """The value, if it is above the bound."""
    if not value > bound:
        raise SettingsError(f"{name} must be above {bound:g}, got {value}")
    return value
