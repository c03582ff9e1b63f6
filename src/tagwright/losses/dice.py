"""Dice of every label on its own (arxiv.org/abs/1911.02855), eq. 20 of ZLPR."""

from typing import Literal

import torch
from torch import Tensor

from tagwright.loss_math.check import above
from tagwright.loss_math.terms import mixed
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def dice(
    logits: Tensor,
    target: Tensor,
    *,
    smooth: float = 1.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of 1 - (2p + g) / (p² + 1 + g) for gold labels and 1 - g / (p² + g) for the
    others, g = `smooth`.

    Shapes: logits and target (B, L) -> (B,). A soft target mixes both terms. The weights multiply
    their term. No labels: the sum has negative terms only.
    Formula: Σₖ yₖ (1 − (2pₖ + g) / (pₖ² + 1 + g)) + (1 − yₖ) (1 − g / (pₖ² + g)),
    p = σ(s), g = smooth
    Cost: O(L) a row.

    >>> dice(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor([0.3111])
    """
    chance, rest = torch.sigmoid(logits), torch.sigmoid(-logits)
    square = chance.square()
    # 1 - (2p + g) / (p² + 1 + g) is (1 - p)² / (p² + 1 + g), which keeps its digits where p is near
    # 1
    return mixed(
        rest.square() / (square + 1 + smooth),
        square / (square + smooth),
        target,
        mask=mask,
        positive_weight=positive_weight,
        negative_weight=negative_weight,
    )


class DiceLoss(LossModule):
    """`dice` with a reduction."""

    function = dice
    link = "sigmoid"
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "terms"
    saturates = (
        "a probability near 0 or 1 hardly moves with its logit, and the loss is a function of the"
        " probability"
    )

    def __init__(
        self, *, smooth: float = 1.0, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.smooth = above("smooth", smooth, 0.0)


PART = DiceLoss
