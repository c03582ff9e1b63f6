"""What every loss checks of its tensors: shape and dtype always, values where looking costs nothing."""

import torch
from torch import Tensor

from tagwright.errors import SettingsError, ShapeError

REDUCTIONS = ("mean", "sum", "none")


def checked(
    logits: Tensor, target: Tensor, mask: Tensor | None = None, **weights: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Logits and target as floating tensors of one dtype, at least float32; a masked logit becomes 0.

    Values are looked at in eager mode on a CPU only: elsewhere it would wait for the device or break a compiled graph.
    """
    if logits.ndim != 2 or not logits.is_floating_point():
        raise ShapeError(f"logits must be a floating tensor (B, L), got {logits.dtype} {tuple(logits.shape)}")
    if target.shape != logits.shape:
        raise ShapeError(
            f"target must match logits {tuple(logits.shape)}, got {tuple(target.shape)}; "
            "make it multi-hot with LabelSpace.encode"
        )
    if not (target.is_floating_point() or target.dtype == torch.bool):
        raise ShapeError(
            f"target must be a float or bool tensor, got {target.dtype}; class numbers must become one-hot first"
        )
    if mask is not None and (mask.dtype != torch.bool or mask.shape != logits.shape):
        raise ShapeError(
            f"mask must be bool {tuple(logits.shape)}, True where a term takes part, "
            f"got {mask.dtype} {tuple(mask.shape)}"
        )
    for name, weight in weights.items():
        if weight is not None and not _broadcasts(weight, logits):
            raise ShapeError(
                f"{name} must broadcast to {tuple(logits.shape)}: (L,), (B, 1) or (B, L), got {tuple(weight.shape)}"
            )
    dtype = torch.promote_types(logits.dtype, torch.float32)
    logits, target = logits.to(dtype), target.to(dtype)
    if logits.device.type == "cpu" and not torch.compiler.is_compiling() and not _transformed(logits):
        _check_values(logits, target, mask)
    return (logits if mask is None else logits.masked_fill(~mask, 0.0)), target


def _check_values(logits: Tensor, target: Tensor, mask: Tensor | None) -> None:
    with torch.no_grad():
        if target.numel() and not (target.min() >= 0 and target.max() <= 1):
            swapped = logits.min() >= 0 and logits.max() <= 1
            hint = "; are logits and target swapped?" if swapped else ""
            raise ShapeError(f"target must lie in [0, 1], got {target.min():.4g} to {target.max():.4g}{hint}")
        seen = logits if mask is None else logits.masked_fill(~mask, 0.0)
        if not torch.isfinite(seen.sum()) and torch.isnan(seen).any():
            raise ShapeError("logits hold NaN; look at the learning rate or the input before the loss")


def _broadcasts(weight: Tensor, logits: Tensor) -> bool:
    if weight.ndim > 2:
        return False
    return all(mine in (1, whole) for mine, whole in zip(reversed(weight.shape), reversed(logits.shape)))


def chosen(name: str, value: str, choices: tuple[str, ...]) -> str:
    """The value, if it is one of the choices."""
    if value not in choices:
        raise SettingsError(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, got {value!r}")
    return value


def _transformed(tensor: Tensor) -> bool:
    """Inside torch.func transforms a value cannot be asked for."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def taking_part(terms: Tensor, mask: Tensor | None) -> Tensor:
    """Terms (B, L) with those outside the mask at 0."""
    return terms if mask is None else terms.masked_fill(~mask, 0.0)


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
    total = values.new_tensor(float(values.numel())) if example_weight is None else example_weight.sum()
    return values.sum() / total.clamp_min(torch.finfo(values.dtype).tiny)
