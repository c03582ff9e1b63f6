"""How far the predictions of two logits lie apart, by the loss's link; R-Drop holds this small."""

import torch
from torch import Tensor

from tagwright.errors import SettingsError, ShapeError, unknown
from tagwright.loss_math.softmax import log_chances
from tagwright.loss_math.terms import softplus, taking_part

_SCALES = {"sigmoid": 1.0, "sigmoid2": 2.0, "threshold_class": 1.0}


def kl(logits: Tensor, other: Tensor, *, link: str, mask: Tensor | None = None) -> Tensor:
    """Kullback-Leibler divergence of the predictions of `other` from those of `logits`, summed over
    labels.

    Shapes: (B, L) twice -> (B,). Under "softmax" of one distribution a row; under "sigmoid",
    "sigmoid2" (ZLPR eq. 36) and "threshold_class" (L + 1 logits, the threshold last) of one
    Bernoulli a label. The link "none" has no chances.

    >>> kl(torch.tensor([[0.7]]), torch.tensor([[-0.4]]), link="sigmoid2")
    tensor([0.5155])
    """
    one, two = _chance_logits(logits, other, link, mask)
    if link == "softmax":
        first, second = (log_chances(scores, mask)[0] for scores in (one, two))
        return taking_part(first.exp() * (first - second), mask).sum(-1)
    terms = torch.sigmoid(one) * (one - two) + softplus(two) - softplus(one)
    return taking_part(terms, mask).sum(-1)


def symmetric_kl(logits: Tensor, other: Tensor, *, link: str, mask: Tensor | None = None) -> Tensor:
    """`kl` one way plus the other way: Σ (p - p')(s - s') of log odds s, ZLPR eq. 37 for its
    sigmoid(2s).

    >>> symmetric_kl(torch.tensor([[0.7]]), torch.tensor([[-0.4]]), link="sigmoid2")
    tensor([1.0827])
    """
    one, two = _chance_logits(logits, other, link, mask)
    if link == "softmax":
        first, second = (log_chances(scores, mask)[0] for scores in (one, two))
        return taking_part((first.exp() - second.exp()) * (first - second), mask).sum(-1)
    return taking_part((torch.sigmoid(one) - torch.sigmoid(two)) * (one - two), mask).sum(-1)


def _chance_logits(
    logits: Tensor, other: Tensor, link: str, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Both as log odds (B, L) of at least float32 (of a softmax: its logits), masked ones at 0."""
    if link not in ("softmax", *_SCALES):
        raise SettingsError(unknown("link with chances", link, ("softmax", *_SCALES)))
    if logits.ndim != 2 or logits.shape != other.shape:
        raise ShapeError(
            f"kl wants two logits (B, L), got {tuple(logits.shape)} and {tuple(other.shape)}"
        )
    dtype = torch.promote_types(torch.promote_types(logits.dtype, other.dtype), torch.float32)
    both = [scores.to(dtype) for scores in (logits, other)]
    if link == "threshold_class":
        both = [scores[:, :-1] - scores[:, -1:] for scores in both]
    if mask is not None:
        both = [scores.masked_fill(~mask, 0.0) for scores in both]
    scale = 1.0 if link == "softmax" else _SCALES[link]
    return scale * both[0], scale * both[1]
