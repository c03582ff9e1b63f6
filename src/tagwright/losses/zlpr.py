"""Zero-bounded log-sum-exp pairwise loss, eqs. 1, 6, 31 of ZLPR (arxiv.org/abs/2208.02955): predicts s > threshold."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.losses._check import REDUCTIONS, checked, chosen, reduced


def zlpr(
    logits: Tensor,
    target: Tensor,
    *,
    threshold: float = 0.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """log(1 + sum of p e^-s) + log(1 + sum of (1 - p) e^s), the sums over labels, p the target, s above the threshold.

    Shapes: logits and target (B, L) -> (B,). A weight stands inside its sum: -s + log w, s + log w.
    No labels: the first term is 0. A masked label is in neither sum.

    >>> zlpr(torch.zeros(1, 1_000_000), torch.zeros(1, 1_000_000)).exp().round()
    tensor([1000001.])
    """
    logits, target = checked(logits, target, mask, positive_weight=positive_weight, negative_weight=negative_weight)
    share = 1 - target
    if mask is not None:
        target, share = target.masked_fill(~mask, 0.0), share.masked_fill(~mask, 0.0)
    positive = -(logits - threshold) + _log(target, positive_weight)
    negative = (logits - threshold) + _log(share, negative_weight)
    return torch.logsumexp(F.pad(positive, (0, 1)), -1) + torch.logsumexp(F.pad(negative, (0, 1)), -1)


def _log(share: Tensor, weight: Tensor | None) -> Tensor:
    return torch.log(share if weight is None else share * weight)


class ZLPRLoss(nn.Module):
    """`zlpr` with a reduction. Probabilities are sigmoid(2s) (eq. 35)."""

    link = "sigmoid2"
    tasks = ("one", "many")
    soft = True
    extra_logits = 0
    batchwise = False

    def __init__(self, *, threshold: float = 0.0, reduction: Literal["mean", "sum", "none"] = "mean") -> None:
        super().__init__()
        self.threshold = threshold
        self.reduction = chosen("reduction", reduction, REDUCTIONS)

    def forward(
        self,
        logits: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        positive_weight: Tensor | None = None,
        negative_weight: Tensor | None = None,
        example_weight: Tensor | None = None,
    ) -> Tensor:
        """Logits and target (B, L) -> scalar, or (B,) when the reduction is "none"."""
        values = zlpr(
            logits,
            target,
            threshold=self.threshold,
            mask=mask,
            positive_weight=positive_weight,
            negative_weight=negative_weight,
        )
        return reduced(values, example_weight, self.reduction)


PART = ZLPRLoss
