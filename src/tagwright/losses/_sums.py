"""The two sums that zlpr, lsep and bpmll are made of, in log space and in O(L): of gold e^-s and of other e^s."""

from collections.abc import Callable

import torch
from torch import Tensor

from tagwright.losses._fused import fusable, fused


def of_log_sums(
    combine: Callable[[Tensor, Tensor], Tensor],
    logits: Tensor,
    target: Tensor,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> Tensor:
    """combine(log of the sum of w⁺ p e^-s, log of the sum of w⁻ (1 - p) e^s), (B,); an empty sum's log is -inf."""
    if not fusable(logits):
        gold, other = _shares(target, mask, positive_weight, negative_weight)
        return combine(log_sum_exp(gold.log() - logits), log_sum_exp(other.log() + logits))

    def kernel(logits: Tensor, target: Tensor, rows: slice) -> tuple[Tensor, Tensor]:
        own = (weight if weight is None or len(weight) == 1 or weight.ndim == 1 else weight[rows] for weight in weights)
        gold, other = _shares(target, None if mask is None else mask[rows], *own)
        return _with_gradient(combine, logits, gold, other)

    weights = positive_weight, negative_weight
    return fused(kernel, logits, target)


def _shares(
    target: Tensor, mask: Tensor | None, positive_weight: Tensor | None, negative_weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """What every label adds to either sum, (B, L) each: w⁺ p and w⁻ (1 - p), 0 where it is masked."""
    gold, other = target, 1 - target
    if mask is not None:
        gold, other = gold.masked_fill(~mask, 0.0), other.masked_fill(~mask, 0.0)
    gold = gold if positive_weight is None else gold * positive_weight
    other = other if negative_weight is None else other * negative_weight
    return gold, other


def log_sum_exp(logits: Tensor) -> Tensor:
    """log of the sum of e^s over the last dimension; of an empty sum -inf without a gradient (torch's is NaN)."""
    top = logits.detach().amax(-1, keepdim=True) if logits.shape[-1] else logits.new_zeros(*logits.shape[:-1], 1)
    top = top.masked_fill(top == -torch.inf, 0.0)
    total = (logits - top).exp().sum(-1)
    empty = total == 0
    return (total.masked_fill(empty, 1.0).log() + top.squeeze(-1)).masked_fill(empty, -torch.inf)


def _with_gradient(
    combine: Callable[[Tensor, Tensor], Tensor], logits: Tensor, gold: Tensor, other: Tensor
) -> tuple[Tensor, Tensor]:
    """combine's values (B,) and their gradient (B, L). Takes no logarithm of a share: of 0 it is slow on a CPU."""
    terms, logs = [], []
    for share, scores in ((gold, -logits), (other, logits.clone())):
        top = torch.where(share > 0, scores, -torch.inf).amax(-1, keepdim=True)
        top.masked_fill_(top == -torch.inf, 0.0)
        # a label of no share may lie above the top: held there, so that 0 times its exponential is 0
        term = scores.sub_(top).clamp_max_(0.0).exp_().mul_(share)
        total = term.sum(-1, keepdim=True)
        terms.append(term.div_(total.clamp_min(torch.finfo(total.dtype).tiny)))
        logs.append((total.log() + top).squeeze(-1))
    with torch.enable_grad():
        leaves = [log.requires_grad_() for log in logs]
        values = combine(*leaves)
        of_gold, of_other = torch.autograd.grad(values.sum(), leaves)
    gradient = terms[1].mul_(of_other[:, None]).sub_(terms[0].mul_(of_gold[:, None]))
    return values.detach(), gradient
