"""Dice of every label over the batch (arxiv.org/abs/1606.04797), eq. 21 of ZLPR: close to one minus
F1.
"""

from typing import Literal

import torch
from torch import Tensor

from tagwright.loss_math.check import above
from tagwright.loss_math.terms import shares
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(batchwise=True)
def batch_dice(
    logits: Tensor,
    target: Tensor,
    *,
    smooth: float = 1.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """1 - (2 Σ p y + g) / (Σ p² + Σ y + g) of every label, the sums over the batch, g = `smooth`.

    Shapes: logits and target (B, L) -> (L,). A cell counts as often as its weight says,
    positive_weight for its gold share and negative_weight for the rest. A label that no text of the
    batch has: its p² are the cost.
    Formula: 1 − (2 Σ p y + g) / (Σ p² + Σ y + g) of every label, Σ over texts, p = σ(s), g = smooth
    Cost: O(B L) a batch.

    >>> batch_dice(torch.zeros(2, 1), torch.tensor([[1.0], [0.0]]))
    tensor([0.2000])
    """
    chance = torch.sigmoid(logits)
    gold, other = shares(target, mask, positive_weight, negative_weight)
    hits, squares = (gold * chance).sum(0), ((gold + other) * chance.square()).sum(0)
    return 1 - (2 * hits + smooth) / (squares + gold.sum(0) + smooth)


class BatchDiceLoss(LossModule):
    """`batch_dice` with a reduction over labels; the paper's is the sum. Parts of a batch do not
    add up.
    """

    function = batch_dice
    link = "sigmoid"
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = True
    saturates = (
        "a probability near 0 or 1 hardly moves with its logit, and the loss is a function of the"
        " probability"
    )

    def __init__(
        self, *, smooth: float = 1.0, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.smooth = above("smooth", smooth, 0.0)


PART = BatchDiceLoss
