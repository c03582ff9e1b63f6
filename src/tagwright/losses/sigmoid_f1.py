"""Sigmoid-F1 (arxiv.org/abs/2108.10566): one minus a smooth F1 of every label over the batch."""

from typing import Literal

import torch
from torch import Tensor

from tagwright.loss_math.check import above
from tagwright.loss_math.terms import divisor, shares
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(batchwise=True)
def sigmoid_f1(
    logits: Tensor,
    target: Tensor,
    *,
    slope: float = 1.0,
    offset: float = 0.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """1 - 2 tp / (2 tp + fn + fp) of every label, counted over the batch with sigmoid(slope * (s +
    offset)).

    Shapes: logits and target (B, L) -> (L,). A cell counts as often as its weight says,
    positive_weight for its gold share and negative_weight for the rest. A label without a gold text
    in the batch, or without any cell: 1.
    Formula: 1 − 2 Σ p y / (Σ p + Σ y) of every label, Σ over texts, p = σ(slope (s + offset))
    Cost: O(B L) a batch.

    >>> sigmoid_f1(torch.zeros(2, 1), torch.tensor([[1.0], [0.0]]))
    tensor([0.5000])
    """
    chance = torch.sigmoid(slope * (logits + offset))
    gold, other = shares(target, mask, positive_weight, negative_weight)
    hits = 2 * (gold * chance).sum(0)
    whole = gold.sum(0) + ((gold + other) * chance).sum(0)  # 2 tp + fn + fp
    return 1 - hits / divisor(whole)


class SigmoidF1Loss(LossModule):
    """`sigmoid_f1` with a reduction over labels. Parts of a batch do not add up to the whole."""

    function = sigmoid_f1
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
        self,
        *,
        slope: float = 1.0,
        offset: float = 0.0,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.slope, self.offset = above("slope", slope, 0.0), offset


PART = SigmoidF1Loss
