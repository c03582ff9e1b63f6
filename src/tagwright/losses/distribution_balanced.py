"""Distribution-balanced loss (arxiv.org/abs/2007.09654): for label sets with a long tail."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.loss_math.check import above, at_least
from tagwright.loss_math.terms import mixed, softplus
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def distribution_balanced(
    logits: Tensor,
    target: Tensor,
    *,
    label_counts: Tensor,
    row_count: int,
    alpha: float = 0.1,
    beta: float = 10.0,
    mu: float = 0.2,
    kappa: float = 0.05,
    scale: float = 2.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of b log(1 + e^-z) for gold labels and b / scale log(1 + e^(scale z)) for the
    others.

    Shapes: logits and target (B, L), label_counts (L,) -> (B,). z is the logit less kappa times the
    log odds against the label, which n of `row_count` texts have; b = alpha + sigmoid(beta (r -
    mu)), r being 1 / n over the sum of 1 / n of the row's gold labels (0 without one). A soft
    target mixes both terms. The weights multiply their term.
    Formula: Σₖ bₖ (yₖ log(1 + e^(−zₖ)) + (1 − yₖ) log(1 + e^(c zₖ)) / c), c = scale,
    zₖ = sₖ − κ log(m / nₖ − 1),
    bₖ = α + σ(β (rₖ − μ)), rₖ = (1 / nₖ) / Σᵢ (1 / nᵢ), label k in nₖ of m texts
    Cost: O(L) a row.

    >>> two = torch.tensor([[1.0, 0.0]])
    >>> counts = torch.tensor([5, 5])
    >>> distribution_balanced(torch.zeros(1, 2), two, label_counts=counts, row_count=10)
    tensor([1.1433])
    """
    counts = label_counts.to(logits.dtype).clamp(1, row_count - 1)
    gold = target if mask is None else target.masked_fill(~mask, 0.0)
    whole = (gold / counts).sum(-1, keepdim=True)
    share = torch.where(
        whole > 0, 1 / (counts * whole.clamp_min(torch.finfo(whole.dtype).tiny)), 0.0
    )
    balance = alpha + torch.sigmoid(beta * (share - mu))
    shifted = logits - kappa * (row_count / counts - 1).log()
    return mixed(
        balance * softplus(-shifted),
        balance * softplus(scale * shifted) / scale,
        target,
        mask=mask,
        positive_weight=positive_weight,
        negative_weight=negative_weight,
    )


class DistributionBalancedLoss(LossModule):
    """`distribution_balanced` with a reduction, for labels that `label_counts` (L,) of `row_count`
    texts have.
    """

    function = distribution_balanced
    link = "sigmoid"
    tasks = ("many",)
    soft = True
    extra_logits = 0
    batchwise = False

    def __init__(
        self,
        label_counts: Sequence[int] | Ints,
        row_count: int,
        *,
        alpha: float = 0.1,
        beta: float = 10.0,
        mu: float = 0.2,
        kappa: float = 0.05,
        scale: float = 2.0,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.register_buffer(
            "label_counts", torch.as_tensor(np.asarray(label_counts)), persistent=False
        )
        self.row_count = int(at_least("row_count", row_count, 2))
        self.alpha, self.beta, self.mu, self.kappa = alpha, beta, mu, kappa
        self.scale = above("scale", scale, 0.0)


PART = DistributionBalancedLoss
