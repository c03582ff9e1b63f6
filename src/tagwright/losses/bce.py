"""Binary cross-entropy of every label on its own, eq. 14 of ZLPR (arxiv.org/abs/2208.02955) and eq.
2 of MaskLoss.
"""

from functools import partial
from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from tagwright.arrays import Range
from tagwright.loss_math.check import chosen, marked, refuse_no_numbers
from tagwright.loss_math.fused import CELLS, fusable, fused
from tagwright.loss_math.terms import mixed, softplus, taking_part
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(marks=True)
def bce(
    logits: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of log(1 + e^-s) for gold labels and log(1 + e^s) for the others.

    Shapes: logits and target (B, L) -> (B,). A soft target mixes both terms. The weights multiply
    their term. No labels: the sum has negative terms only.
    Formula: Σₖ yₖ log(1 + e^(−sₖ)) + (1 − yₖ) log(1 + e^sₖ)
    Cost: O(L) a row.

    >>> import torch
    >>> bce(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([1.3863])
    """
    unweighted = positive_weight is negative_weight is None

    def plain(logits: Tensor) -> Tensor:
        if unweighted:
            terms = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
            return marked(taking_part(terms, mask).sum(-1), logits)
        weights = {"positive_weight": positive_weight, "negative_weight": negative_weight}
        return marked(
            mixed(softplus(-logits), softplus(logits), target, mask=mask, **weights), logits
        )

    if unweighted and mask is None and logits.numel() > CELLS and fusable(logits, target):
        return fused(partial(_kernel, target), plain, logits)
    return plain(logits)


def _kernel(target: Tensor, logits: Tensor, rows: Range) -> tuple[Tensor, Tensor]:
    values = F.binary_cross_entropy_with_logits(logits, target[rows], reduction="none").sum(-1)
    if not values.isfinite().all():  # which every infinite logit makes them
        refuse_no_numbers(logits)
    return values, logits.sigmoid().sub_(target[rows])


class BinaryCrossEntropyLoss(LossModule):
    """`bce` with a reduction. `labels="mean"` divides by L, masked labels included (MaskLoss eq.
    2).
    """

    function = bce
    link = "sigmoid"
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "terms"

    def __init__(
        self,
        *,
        labels: Literal["sum", "mean"] = "sum",
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.labels = chosen("labels", labels, ("sum", "mean"))
        self.over_labels = "means" if labels == "mean" else "terms"


PART = BinaryCrossEntropyLoss
