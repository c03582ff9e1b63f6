"""The two sums that zlpr, lsep and bpmll are made of, in log space and in O(L): of gold e^-s and of other e^s."""

import torch
from torch import Tensor

_CELLS = 2**17  # of a block on a CPU: what is made on the way stays in the cache


def log_sums(
    logits: Tensor, target: Tensor, mask: Tensor | None, positive_weight: Tensor | None, negative_weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """log of the sum of w⁺ p e^-s and log of the sum of w⁻ (1 - p) e^s, each (B,); -inf for an empty sum."""
    other = 1 - target
    gold = target if mask is None else target.masked_fill(~mask, 0.0)
    other = other if mask is None else other.masked_fill(~mask, 0.0)
    gold = gold if positive_weight is None else gold * positive_weight
    other = other if negative_weight is None else other * negative_weight
    return log_sum_exp(gold.log() - logits), log_sum_exp(other.log() + logits)


def log_sum_exp(logits: Tensor) -> Tensor:
    """log of the sum of e^s over the last dimension; of an empty sum -inf without a gradient (torch's is NaN)."""
    top = logits.detach().amax(-1, keepdim=True) if logits.shape[-1] else logits.new_zeros(*logits.shape[:-1], 1)
    top = top.masked_fill(top == -torch.inf, 0.0)
    total = (logits - top).exp().sum(-1)
    empty = total == 0
    return (total.masked_fill(empty, 1.0).log() + top.squeeze(-1)).masked_fill(empty, -torch.inf)
