"""Softmax cross-entropy for labels that exclude each other; takes one-hot or soft targets."""

from typing import Literal

import torch
from torch import Tensor, nn

from tagwright.losses._check import REDUCTIONS, checked, chosen, reduced


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Minus the sum over labels of target times log softmax.

    Shapes: logits and target (B, L) -> (B,). A masked label leaves the softmax, and the target mass that remains is
    rescaled to its old sum. `positive_weight` multiplies a label's own term; `negative_weight` stands inside the
    softmax, whose sum is over (t + (1 - t) w) e^s, t the target. No target mass: 0.

    >>> cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([0.6931])
    """
    logits, target = checked(logits, target, mask, positive_weight=positive_weight, negative_weight=negative_weight)
    if mask is not None:
        logits = logits.masked_fill(~mask, -torch.inf)
        target = _kept_mass(target, mask)
    denominator = logits
    if negative_weight is not None:
        denominator = logits + torch.log(target + (1 - target) * negative_weight)
    # a row whose labels are all masked has no softmax; it has no target either, so any finite value serves
    total = torch.logsumexp(denominator, -1, keepdim=True)
    total = total.masked_fill(total == -torch.inf, 0.0)
    terms = (total - logits).masked_fill(target == 0, 0.0) * target
    return (terms if positive_weight is None else terms * positive_weight).sum(-1)


def _kept_mass(target: Tensor, mask: Tensor) -> Tensor:
    kept = target.masked_fill(~mask, 0.0)
    scale = target.sum(-1, keepdim=True) / kept.sum(-1, keepdim=True).clamp_min(torch.finfo(target.dtype).tiny)
    return torch.where(kept > 0, kept * scale, 0.0)


class CrossEntropyLoss(nn.Module):
    """`cross_entropy` with a reduction."""

    link = "softmax"
    tasks = ("one", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False

    def __init__(self, *, reduction: Literal["mean", "sum", "none"] = "mean") -> None:
        super().__init__()
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
        values = cross_entropy(
            logits, target, mask=mask, positive_weight=positive_weight, negative_weight=negative_weight
        )
        return reduced(values, example_weight, self.reduction)


PART = CrossEntropyLoss
