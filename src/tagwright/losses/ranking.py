"""Pairwise hinge, eq. 22 of ZLPR: every gold label should stand a margin above every other."""

from typing import Literal

from torch import Tensor

from tagwright.loss_math.terms import shares
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule
from tagwright.losses._pairs import hinge_of_pairs


@loss(hard=True)
def ranking(
    logits: Tensor,
    target: Tensor,
    *,
    margin: float = 1.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum of max(0, margin + s_j - s_i) over gold labels i and other labels j.

    Shapes: logits and target (B, L) -> (B,). A pair weighs positive_weight of its gold label times
    negative_weight of the other. Without a pair (no labels, or all): 0.
    Formula: Σᵢ Σⱼ max(0, m + sⱼ − sᵢ), m = margin
    Cost: O(L log L) time and O(L) memory a row: labels are sorted, no pair is ever written down.

    >>> import torch
    >>> ranking(torch.tensor([[0.5, 0.0, -2.0]]), torch.tensor([[1.0, 0.0, 0.0]]))
    tensor([0.5000])
    """
    gold, other = shares(target, mask, positive_weight, negative_weight)
    return hinge_of_pairs(logits, gold, other, margin)


class RankingLoss(LossModule):
    """`ranking` with a reduction."""

    function = ranking
    link = "none"
    tasks = ("one", "many")
    soft = False
    extra_logits = 0
    batchwise = False

    def __init__(
        self, *, margin: float = 1.0, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin


PART = RankingLoss
