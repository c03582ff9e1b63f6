"""Sums over labels, each label on its own."""

import torch
import torch.nn.functional as F
from torch import Tensor


def softplus(logits: Tensor) -> Tensor:
    """log(1 + e^s), which is -log(1 - sigmoid(s)). Torch's own is linear above 20: too coarse in
    float64.
    """
    return -F.logsigmoid(-logits)


def weighted(terms: Tensor, weight: Tensor | None) -> Tensor:
    """Terms times their weight."""
    return terms if weight is None else terms * weight


def divisor(total: Tensor) -> Tensor:
    """A total to divide by, held above 0."""
    # not the least number itself: a large upstream gradient times its inverse would be infinite,
    # and no number times 0
    return total.clamp_min(torch.finfo(total.dtype).tiny ** 0.5)


def taking_part(terms: Tensor, mask: Tensor | None) -> Tensor:
    """Terms (B, L) with those outside the mask at 0."""
    return terms if mask is None else terms.masked_fill(~mask, 0.0)


def shares(
    target: Tensor,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """What every label weighs as a gold one and as another, (B, L) each: w⁺ p and w⁻ (1 - p), 0
    where it is masked.
    """
    gold, other = weighted(target, positive_weight), weighted(1 - target, negative_weight)
    return taking_part(gold, mask), taking_part(other, mask)


def log_share(share: Tensor) -> Tensor:
    """The log of what labels weigh, -inf of nothing. That has no gradient where a weight is learnt
    (torch's is NaN).
    """
    if not share.requires_grad:
        return share.log()
    nothing = share == 0
    return share.masked_fill(nothing, 1.0).log().masked_fill(nothing, -torch.inf)


def mixed(
    positive: Tensor,
    negative: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> Tensor:
    """Sum over labels of target * positive + (1 - target) * negative, each with its weight,
    (B,).
    """
    terms = weighted(target * positive, positive_weight) + weighted(
        (1 - target) * negative, negative_weight
    )
    return taking_part(terms, mask).sum(-1)
