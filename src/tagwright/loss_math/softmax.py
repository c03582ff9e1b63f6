"""What losses on a softmax share: chances in log space, and the target mass that a mask leaves."""

import torch
from torch import Tensor

from tagwright.loss_math.sums import log_sum_exp
from tagwright.loss_math.terms import divisor, mixed, weighted


def log_chances(logits: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """log p and log(1 - p) of the softmax over the labels that take part, (B, L) each; 0 for a
    masked label.

    A lone label has p = 1; its log(1 - p) is given as 0, for there is no other that it could be
    mistaken for.
    """
    seen = logits if mask is None else logits.masked_fill(~mask, -torch.inf)
    whole = log_sum_exp(seen)[:, None]
    log_chance = logits - whole.masked_fill(whole == -torch.inf, 0.0)
    log_chance = log_chance if mask is None else log_chance.masked_fill(~mask, 0.0)
    # only the highest p can be near 1, where 1 - p loses its digits: there the others are summed by
    # themselves
    top = is_highest(seen)
    others = log_sum_exp(seen.masked_fill(top, -torch.inf))[:, None]
    of_top = (others - whole).masked_fill(others == -torch.inf, 0.0)
    covered = top if mask is None else top | ~mask
    of_rest = torch.log1p(-log_chance.masked_fill(covered, -torch.inf).exp())
    return log_chance, torch.where(top, of_top, of_rest)


def is_highest(logits: Tensor) -> Tensor:
    """True at the highest logit of each row, the first one on ties, (B, L)."""
    # one_hot would look at the values, which neither vmap nor a compiled graph can
    return torch.arange(logits.shape[-1], device=logits.device) == logits.argmax(-1, keepdim=True)


def kept_mass(target: Tensor, mask: Tensor | None) -> Tensor:
    """The target without masked labels, rescaled to the sum it had, but no label above 1; no mass
    left: 0.
    """
    if mask is None:
        return target
    kept = target.masked_fill(~mask, 0.0)
    scale = target.sum(-1, keepdim=True) / divisor(kept.sum(-1, keepdim=True))
    return (kept * scale).clamp_max(1.0)


def softmax_cross_entropy(
    logits: Tensor,
    target: Tensor,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> Tensor:
    """Minus the sum of w⁺ t log(e^s / sum of (t + (1 - t) w⁻) e^s), (B,); see `cross_entropy`."""
    target = kept_mass(target, mask)
    seen = logits if mask is None else logits.masked_fill(~mask, -torch.inf)
    below = (
        seen
        if negative_weight is None
        else seen + torch.log(target + (1 - target) * negative_weight)
    )
    # a row whose labels are all masked has no softmax; it has no target either, so any finite value
    # serves
    whole = log_sum_exp(below)[:, None]
    terms = (whole.masked_fill(whole == -torch.inf, 0.0) - logits).masked_fill(
        target == 0, 0.0
    ) * target
    return weighted(terms, positive_weight).sum(-1)


def focal_softmax(
    logits: Tensor,
    target: Tensor,
    *,
    gamma: float,
    positive_scale: float,
    predicted_only: bool,
    mask: Tensor | None,
    positive_weight: Tensor | None,
    negative_weight: Tensor | None,
) -> Tensor:
    """`cecl`; with `predicted_only` the terms of others stand at the highest label alone, and it is
    `pbp`.
    """
    target = kept_mass(target, mask)
    log_chance, log_rest = log_chances(logits, mask)
    positive = -positive_scale * (gamma * log_rest).exp() * log_chance
    negative = -(gamma * log_chance).exp() * log_rest
    if predicted_only:
        negative = negative * is_highest(
            logits if mask is None else logits.masked_fill(~mask, -torch.inf)
        )
    return mixed(
        positive,
        negative,
        target,
        mask=mask,
        positive_weight=positive_weight,
        negative_weight=negative_weight,
    )
