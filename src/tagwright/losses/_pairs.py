"""Hinges of all pairs of a gold label and another, by sorting: exact, in O(L log L) time and O(L)
memory a row.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def hinge_of_pairs(logits: Tensor, gold: Tensor, other: Tensor, margin: float) -> Tensor:
    """Sum over i, j of gold_i other_j max(0, margin + s_j - s_i), (B,).

    The labels j that a label i has to fear are a prefix of the sorted row: those above s_i -
    margin. Over a prefix the hinges add up to (margin - s_i) times its weight, plus its weighted
    sum of scores; both are running sums.
    """
    falling, order = torch.sort(_exact(logits), dim=-1, descending=True)
    # (B, L), how many lie above s_i - margin
    feared = torch.searchsorted(-falling.detach(), margin - falling.detach())
    weight = _exact(other).gather(-1, order)
    counts, sums = (
        _running(weight).gather(-1, feared),
        _running(weight * falling).gather(-1, feared),
    )
    hinges = counts * (margin - falling) + sums
    # a gold label that fears nobody: exactly 0, whatever the running sums rounded to
    hinges = hinges.masked_fill(counts == 0, 0.0)
    return (_exact(gold).gather(-1, order) * hinges).sum(-1).to(logits.dtype)


def ranks(logits: Tensor, mask: Tensor | None) -> Tensor:
    """1 + the number of labels that take part and score strictly higher, (B, L), without a
    gradient.
    """
    rising, order = torch.sort(-_exact(logits.detach()), dim=-1)
    part = (
        torch.ones_like(rising) if mask is None else _exact(mask.to(logits.dtype)).gather(-1, order)
    )
    higher = torch.searchsorted(rising, -_exact(logits.detach()))
    return 1 + _running(part).gather(-1, higher)


def _exact(values: Tensor) -> Tensor:
    """In double precision: a running sum over a million labels, less another one, keeps seven
    digits only there.
    """
    return values if values.device.type == "mps" else values.double()


def _running(values: Tensor) -> Tensor:
    """Sums of the first 0, 1, … L values, (B, L + 1)."""
    return F.pad(values.cumsum(-1), (1, 0))
