"""WARP (Weston 2011, WSABIE), eq. 23 of ZLPR: a pairwise hinge that weighs a gold label by its
rank.
"""

from typing import Literal

import torch
from torch import Tensor

from tagwright.loss_math.check import chosen
from tagwright.loss_math.terms import shares
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule
from tagwright.losses._pairs import hinge_of_pairs, ranks

EULER = 0.57721566490153286  # digamma(r + 1) + this is 1 + 1/2 + … + 1/r


@loss(hard=True)
def warp(
    logits: Tensor,
    target: Tensor,
    *,
    margin: float = 1.0,
    weighting: Literal["linear", "harmonic"] = "linear",
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum of w(r_i) max(0, margin + s_j - s_i) over gold labels i and other labels j, r_i the rank
    of i.

    The rank is 1 + the number of labels scored strictly higher, and a constant for the gradient;
    w(r) is r, or with `weighting="harmonic"` the sum of 1/k to r, as in WSABIE. Shapes: logits and
    target (B, L) -> (B,). A pair weighs positive_weight of its gold label times negative_weight of
    the other. Without a pair (no labels, or all): 0.
    Formula: Σᵢ Σⱼ w(rᵢ) max(0, m + sⱼ − sᵢ), m = margin, rᵢ = 1 + |{k: sₖ > sᵢ}|,
    w(r) = r or 1 + 1/2 + … + 1/r
    Cost: O(L log L) time and O(L) memory a row: labels are sorted, no pair is ever written down.

    >>> warp(torch.tensor([[0.5, 1.0, -2.0]]), torch.tensor([[1.0, 0.0, 0.0]]))
    tensor([3.])
    """
    gold, other = shares(target, mask, positive_weight, negative_weight)
    rank = ranks(logits, mask)
    factor = rank if weighting == "linear" else torch.digamma(rank + 1) + EULER
    return hinge_of_pairs(logits, gold * factor.to(gold.dtype), other, margin)


class WARPLoss(LossModule):
    """`warp` with a reduction."""

    function = warp
    link = "none"
    tasks = ("one", "many")
    soft = False
    extra_logits = 0
    batchwise = False

    def __init__(
        self,
        *,
        margin: float = 1.0,
        weighting: Literal["linear", "harmonic"] = "linear",
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin
        self.weighting = chosen("weighting", weighting, ("linear", "harmonic"))


PART = WARPLoss
