"""From the values of rows to their mean or sum."""

from torch import Tensor

from tagwright.errors import ShapeError
from tagwright.loss_math.terms import divisor


def reduced(values: Tensor, example_weight: Tensor | None, reduction: str) -> Tensor:
    """Values (B,) to their (weighted) mean or sum, or as they are for "none". A mean over no weight
    is 0.
    """
    if example_weight is not None:
        if example_weight.shape != values.shape:
            raise ShapeError(
                f"example_weight must be {tuple(values.shape)}, got {tuple(example_weight.shape)}"
            )
        values = values * example_weight
    if reduction == "none":
        return values
    if reduction == "sum":
        return values.sum()
    if example_weight is None:
        return values.sum() / max(values.numel(), 1)
    return values.sum() / divisor(example_weight.sum().to(values.dtype))
