"""The two sums that zlpr, lsep and bpmll are made of, in log space and in O(L): of gold e^-s and of
other e^s.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tagwright.arrays import Range
from tagwright.loss_math.check import marked, refuse_no_numbers
from tagwright.loss_math.fused import fusable, fused
from tagwright.loss_math.terms import log_share, shares


class Combine(NamedTuple):
    """What a loss makes of its two sums, twice: by their logs, which always serves, and by
    themselves, which is quick.

    `logs` takes the logs (B,) of the gold and of the other sum, and gives the values (B,) and both
    derivatives. `sums` takes the sums (2, B), and gives the values and the derivatives by the sums
    (2, B); a value that is no number sends the block to `logs`.
    """

    logs: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
    sums: Callable[[Tensor], tuple[Tensor, Tensor]]


def of_log_sums(
    combine: Combine,
    logits: Tensor,
    target: Tensor,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> Tensor:
    """What combine makes of the sums of w⁺ p e^-s and of w⁻ (1 - p) e^s over the labels, (B,)."""
    weights = positive_weight, negative_weight

    def plain(logits: Tensor) -> Tensor:
        return marked(combine.logs(*log_sums_of(logits, target, mask, *weights))[0], logits)

    def kernel(logits: Tensor, rows: Range) -> tuple[Tensor, Tensor]:
        own = (w if w is None or w.ndim < 2 or len(w) == 1 else w[rows] for w in weights)
        gold, other = shares(target[rows], None if mask is None else mask[rows], *own)
        return _with_gradient(combine, logits, gold, other)

    return fused(kernel, plain, logits) if fusable(logits, target, *weights) else plain(logits)


def log_sums_of(
    logits: Tensor,
    target: Tensor,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The logs of both sums, (B,) each, by operations that autograd knows; -inf of a sum without a
    term.
    """
    gold, other = shares(target, mask, positive_weight, negative_weight)
    return log_sum_exp(log_share(gold) - logits), log_sum_exp(log_share(other) + logits)


def log_sum_exp(logits: Tensor) -> Tensor:
    """log of the sum of e^s over the last dimension; of an empty sum -inf without a gradient
    (torch's is NaN).
    """
    top = (
        logits.detach().amax(-1, keepdim=True)
        if logits.shape[-1]
        else logits.new_zeros(*logits.shape[:-1], 1)
    )
    top = top.masked_fill(top == -torch.inf, 0.0)
    total = (logits - top).exp().sum(-1)
    empty = total == 0
    return (total.masked_fill(empty, 1.0).log() + top.squeeze(-1)).masked_fill(empty, -torch.inf)


def _with_gradient(
    combine: Combine, logits: Tensor, gold: Tensor, other: Tensor
) -> tuple[Tensor, Tensor]:
    """combine's values (B,) and their gradient (B, L). Takes no logarithm of a share: of 0 it is
    slow on a CPU.
    """
    up = logits.exp()
    low, high = up.reciprocal().mul_(gold), up.mul_(other)
    values, slopes = combine.sums(torch.stack((low.sum(-1), high.sum(-1))))
    if not values.isfinite().all():  # a logit beyond 88: each sum then starts from its highest term
        refuse_no_numbers(logits)
        (low, low_top), (high, high_top) = (
            log_sum_term(-logits, gold),
            log_sum_term(logits.clone(), other),
        )
        sums = torch.stack((low.sum(-1), high.sum(-1)))
        values, *of_logs = combine.logs(*(sums.log() + torch.stack((low_top, high_top))))
        # where a sum is empty its terms are 0, whatever they are divided by
        slopes = torch.stack(of_logs) / sums.clamp_min(torch.finfo(sums.dtype).tiny)
    return values, high.mul_(slopes[1, :, None]).addcmul_(low, slopes[0, :, None], value=-1)


def known(values: Tensor, sums: Tensor) -> Tensor:
    """The values, NaN where a sum is so small that it may have lost terms; its log then has to
    serve.
    """
    return values.masked_fill((sums < 1e-25).any(0), torch.nan)


def log_sum_term(scores: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
    """share * e^(s - top), (B, L), and each row's top (B,), its highest score that has a share.
    Changes the scores.
    """
    top = torch.where(share > 0, scores, -torch.inf).amax(-1, keepdim=True)
    top.masked_fill_(top == -torch.inf, 0.0)
    # a label of no share may lie above the top: held there, so that 0 times its exponential is 0
    return scores.sub_(top).clamp_max_(0.0).exp_().mul_(share), top.squeeze(-1)
