"""Logit-adjusted cross-entropy (arxiv.org/abs/2007.07314): frequent labels must win by more."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.loss_math.softmax import softmax_cross_entropy
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def logit_adjusted(
    logits: Tensor,
    target: Tensor,
    *,
    prior: Tensor,
    tau: float = 1.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """`cross_entropy` of s + tau * log of the label's share in train; predictions use s itself.

    Shapes: logits and target (B, L), prior (L,) above 0 -> (B,). Mask and weights as in
    `cross_entropy`.
    Formula: −Σₖ yₖ log pₖ, p = softmax(s + τ log π), τ = tau, π = prior
    Cost: O(L) a row.

    >>> first, prior = torch.tensor([[1.0, 0.0]]), torch.tensor([0.75, 0.25])
    >>> logit_adjusted(torch.zeros(1, 2), first, prior=prior)
    tensor([0.2877])
    """
    raised = logits + tau * prior.to(logits.dtype).log()
    return softmax_cross_entropy(raised, target, mask, positive_weight, negative_weight)


class LogitAdjustedLoss(LossModule):
    """`logit_adjusted` with a reduction; the prior is the share of `label_counts` (L,), 0 taken as
    1.
    """

    function = logit_adjusted
    link = "softmax"
    tasks = ("one", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "softmax"
    shift = property(lambda self: self.tau * self.prior.log())  # on every logit

    def __init__(
        self,
        label_counts: Sequence[int] | Ints,
        *,
        tau: float = 1.0,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        counts = torch.as_tensor(np.maximum(label_counts, 1), dtype=torch.float32)
        self.register_buffer("prior", counts / counts.sum(), persistent=False)
        self.tau = tau


PART = LogitAdjustedLoss
