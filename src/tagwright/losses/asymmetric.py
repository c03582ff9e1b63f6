"""Asymmetric loss (arxiv.org/abs/2009.14119): easy negatives count less, the easiest not at all."""

from typing import Literal

import torch
from torch import Tensor

from tagwright.loss_math.check import at_least
from tagwright.loss_math.terms import mixed, softplus
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def asymmetric(
    logits: Tensor,
    target: Tensor,
    *,
    gamma_positive: float = 1.0,
    gamma_negative: float = 4.0,
    clip: float = 0.05,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of -(1 - p)^g⁺ log p for gold labels and -q^g⁻ log(1 - q) for the others, q =
    max(p - clip, 0).

    Shapes: logits and target (B, L) -> (B,). A soft target mixes both terms. The weights multiply
    their term. No labels: the sum has negative terms only.
    Formula: Σₖ −yₖ (1 − pₖ)^γ⁺ log pₖ − (1 − yₖ) qₖ^γ⁻ log(1 − qₖ), p = σ(s), q = max(p − clip, 0)
    Cost: O(L) a row.

    >>> asymmetric(torch.tensor([[0.0, -5.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([0.3466])
    """
    gold = softplus(-logits)
    positive = (-gamma_positive * softplus(logits)).exp() * gold
    shifted = (torch.sigmoid(logits) - clip).clamp_min(0.0)
    # 1 - shifted is 1 - p + clip where that is below 1; without a clip only log space reaches log(1
    # - p)
    log_rest = (
        (torch.sigmoid(-logits) + clip).log().clamp_max(0.0) if clip > 0 else -softplus(logits)
    )
    easy = shifted == 0
    power = shifted.masked_fill(easy, 1.0).pow(gamma_negative)
    negative = (
        -log_rest
        if clip == 0 and gamma_negative == 0
        else (-power * log_rest).masked_fill(easy, 0.0)
    )
    return mixed(
        positive,
        negative,
        target,
        mask=mask,
        positive_weight=positive_weight,
        negative_weight=negative_weight,
    )


class AsymmetricLoss(LossModule):
    """`asymmetric` with a reduction."""

    function = asymmetric
    link = "sigmoid"
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "terms"
    saturates = (
        "with a clip the loss of another label is bounded, so that a label that is missing from the"
        " data pulls less"
    )

    def __init__(
        self,
        *,
        gamma_positive: float = 1.0,
        gamma_negative: float = 4.0,
        clip: float = 0.05,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.gamma_positive = at_least("gamma_positive", gamma_positive, 0.0)
        self.gamma_negative = at_least("gamma_negative", gamma_negative, 0.0)
        self.clip = at_least("clip", clip, 0.0)


PART = AsymmetricLoss
