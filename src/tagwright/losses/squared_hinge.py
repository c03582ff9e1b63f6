"""Squared hinge of every label on its own, the loss of a linear support vector machine: no push
beyond the margin.
"""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from tagwright.loss_math.terms import mixed
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def squared_hinge(
    logits: Tensor,
    target: Tensor,
    *,
    margin: float = 1.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of max(0, margin - s)² for gold labels and max(0, margin + s)² for the
    others.

    Shapes: logits and target (B, L) -> (B,). A soft target mixes both terms. The weights multiply
    their term. No labels: the sum has negative terms only.
    Formula: Σₖ yₖ max(0, m − sₖ)² + (1 − yₖ) max(0, m + sₖ)², m = margin
    Cost: O(L) a row.

    >>> import torch
    >>> squared_hinge(torch.tensor([[0.5, -2.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([0.2500])
    """
    return mixed(
        F.relu(margin - logits).square(),
        F.relu(margin + logits).square(),
        target,
        mask=mask,
        positive_weight=positive_weight,
        negative_weight=negative_weight,
    )


class SquaredHingeLoss(LossModule):
    """`squared_hinge` with a reduction."""

    function = squared_hinge
    link = "none"
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "terms"

    def __init__(
        self, *, margin: float = 1.0, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin


PART = SquaredHingeLoss
