"""Focal loss (arxiv.org/abs/1708.02002), eq. 19 of ZLPR: labels that are right already count
less.
"""

from functools import partial
from typing import Literal

import torch
from torch import Tensor

from tagwright.arrays import Range
from tagwright.loss_math.check import at_least, is_hard, marked
from tagwright.loss_math.fused import fusable, fused
from tagwright.loss_math.terms import mixed, softplus
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(marks=True)
def focal(
    logits: Tensor,
    target: Tensor,
    *,
    gamma: float = 2.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of -(1 - p)^gamma log p for gold labels and -p^gamma log(1 - p) for the
    others, p = sigmoid(s).

    Shapes: logits and target (B, L) -> (B,). A soft target mixes both terms. The weights multiply
    their term. No labels: the sum has negative terms only. There is no balancing factor, as in eq.
    19; `positive_weight` is one. gamma = 0 is `bce`. p is less sure than the data are:
    `tagwright.links.unfocused` makes a probability of it, as `tagwright fit` does.
    Formula: Σₖ −yₖ (1 − pₖ)^γ log pₖ − (1 − yₖ) pₖ^γ log(1 − pₖ), p = σ(s), γ = gamma
    Cost: O(L) a row.

    >>> import torch
    >>> focal(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor([0.3466])
    """

    def plain(logits: Tensor) -> Tensor:
        gold, other = softplus(-logits), softplus(logits)
        # (1 - p)^gamma in log space: at p = 1 a power's gradient would be infinite for gamma < 1
        positive, negative = (-gamma * other).exp() * gold, (-gamma * gold).exp() * other
        weights = {"positive_weight": positive_weight, "negative_weight": negative_weight}
        return marked(mixed(positive, negative, target, mask=mask, **weights), logits)

    unweighted = mask is positive_weight is negative_weight is None
    if unweighted and fusable(logits, target) and is_hard(target):
        values = fused(partial(_kernel, target, gamma), plain, logits)
        if (
            values.detach().isfinite().all()
        ):  # else a logit is beyond 88, and its exponential no number
            return values
    return plain(logits)


def _kernel(target: Tensor, gamma: float, logits: Tensor, rows: Range) -> tuple[Tensor, Tensor]:
    """Either term is p^g softplus(z), z = -s for gold and s for others, of slope p^g (g (1 - p)
    softplus(z) + p).
    """
    target = target[rows]
    odds = torch.addcmul(logits, logits, target, value=-2).exp_()
    rest = (odds + 1).reciprocal_()
    chance, log_rest = odds.mul_(rest), rest.log()  # log(1 - p) is -softplus(z)
    power = chance.square() if gamma == 2 else chance.pow(gamma)
    values = torch.linalg.vecdot(power, log_rest).neg_()
    slope = torch.add(chance, rest.mul_(log_rest), alpha=-gamma, out=rest).mul_(power)
    return values, slope.addcmul_(slope, target, value=-2)


class FocalLoss(LossModule):
    """`focal` with a reduction."""

    function = focal
    link = "sigmoid"
    unsure_by = "gamma"  # what σ(s) has to be corrected by, to be a probability: `links.unfocused`
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "terms"

    def __init__(
        self, *, gamma: float = 2.0, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.gamma = at_least("gamma", gamma, 0.0)


PART = FocalLoss
