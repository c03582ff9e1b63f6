"""Zero-bounded log-sum-exp pairwise loss, eqs. 1, 6, 31 of ZLPR (arxiv.org/abs/2208.02955):
predicts s > threshold.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from tagwright.loss_math.sums import Combine, of_log_sums
from tagwright.loss_math.terms import softplus
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(marks=True)
def zlpr(
    logits: Tensor,
    target: Tensor,
    *,
    threshold: float | Tensor = 0.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """log(1 + sum of p e^-s) + log(1 + sum of (1 - p) e^s), the sums over labels, p the target, s
    above the threshold.

    Shapes: logits and target (B, L) -> (B,). A weight stands inside its sum: -s + log w, s + log w.
    The threshold is one number or one a label (L,); as a tensor it may be learnt.
    No labels: the first term is 0. A masked label is in neither sum.
    Formula: log(1 + Σₖ yₖ e^(t − sₖ)) + log(1 + Σₖ (1 − yₖ) e^(sₖ − t)), t = threshold
    Cost: O(L) a row.

    >>> zlpr(torch.zeros(1, 1_000_000), torch.zeros(1, 1_000_000)).exp().round()
    tensor([1000001.])
    """
    shifted = logits if isinstance(threshold, float) and threshold == 0 else logits - threshold
    return of_log_sums(
        Combine(_of_logs, _of_sums), shifted, target, mask, positive_weight, negative_weight
    )


def _of_logs(gold: Tensor, other: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return softplus(gold) + softplus(other), gold.sigmoid(), other.sigmoid()


def _of_sums(sums: Tensor) -> tuple[Tensor, Tensor]:
    return sums.log1p().sum(0), (1 + sums).reciprocal_()


class ZLPRLoss(LossModule):
    """`zlpr` with a reduction. Probabilities are sigmoid(2s) (eq. 35).

    A threshold for all labels does what the head's bias can do (eq. 6 is eq. 1 of s - s0); one a
    label helps where a head has no bias. A `nn.Parameter` is learnt with the model.
    """

    function = zlpr
    link = "sigmoid2"
    tasks = ("one", "many")
    soft = True
    extra_logits = 0
    batchwise = False
    shift = property(lambda self: -self.threshold)  # on every logit
    over_labels, of_logs = "log_sums", staticmethod(_of_logs)

    def __init__(
        self,
        *,
        threshold: float | Sequence[float] | Tensor = 0.0,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if isinstance(threshold, nn.Parameter):
            self.threshold: float | Tensor = threshold
        elif isinstance(threshold, Sequence | Tensor):
            self.register_buffer("threshold", torch.as_tensor(threshold, dtype=torch.float32))
        else:
            self.threshold = threshold


PART = ZLPRLoss
