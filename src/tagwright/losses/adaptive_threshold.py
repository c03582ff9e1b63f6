"""Adaptive threshold of ATLOP (arxiv.org/abs/2010.11304): one more logit is each text's own
threshold.
"""

import torch
from torch import Tensor

from tagwright.loss_math.sums import log_sum_exp
from tagwright.loss_math.terms import taking_part, weighted
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(hard=True, extra_logits=1)
def adaptive_threshold(
    logits: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """-log softmax of each gold label among gold and threshold, minus log softmax of the threshold
    among the others.

    Shapes: logits (B, L + 1), the threshold last, and target (B, L) -> (B,). positive_weight
    multiplies a gold label's term; negative_weight stands inside the second softmax. A label is
    predicted where it is above the threshold. No labels: the second term alone.
    Formula: Σᵢ (log(e^t + Σᵢ′ e^sᵢ′) − sᵢ) + log(e^t + Σⱼ e^sⱼ) − t,
    t the threshold's logit, i′ gold as i is
    Cost: O(L) a row.

    >>> adaptive_threshold(torch.zeros(1, 3), torch.tensor([[1.0, 0.0]]))
    tensor([1.3863])
    """
    labels, threshold = logits[:, :-1], logits[:, -1:]
    gold = target > 0
    part = torch.ones_like(gold) if mask is None else mask
    above = log_sum_exp(torch.cat([labels.masked_fill(~(gold & part), -torch.inf), threshold], -1))
    rivals = labels if negative_weight is None else labels + negative_weight.log()
    below = log_sum_exp(torch.cat([rivals.masked_fill(gold | ~part, -torch.inf), threshold], -1))
    missed = taking_part(weighted((above[:, None] - labels) * target, positive_weight), mask).sum(
        -1
    )
    return missed + below - threshold.squeeze(-1)


class AdaptiveThresholdLoss(LossModule):
    """`adaptive_threshold` with a reduction."""

    function = adaptive_threshold
    link = "threshold_class"
    tasks = ("many",)
    soft = False
    extra_logits = 1
    batchwise = False


PART = AdaptiveThresholdLoss
