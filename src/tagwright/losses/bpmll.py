"""BP-MLL in log form (doi.org/10.1109/TKDE.2006.162), eq. 24 of ZLPR: an exponential ranking
loss.
"""

import torch
from torch import Tensor

from tagwright.loss_math.sums import Combine, known, of_log_sums
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(hard=True, marks=True)
def bpmll(
    logits: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """log of the sum of e^(s_j - s_i) over gold labels i and other labels j.

    Shapes: logits and target (B, L) -> (B,). A pair weighs positive_weight of its gold label times
    negative_weight of the other. The value is below 0 once the ranking is good. Without a pair (no
    labels, or all): 0.
    Formula: log Σᵢ Σⱼ e^(sⱼ − sᵢ) = log Σᵢ e^(−sᵢ) + log Σⱼ e^sⱼ
    Cost: O(L) a row: the sum over pairs is a product of two sums.

    >>> bpmll(torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([-2.])
    """
    return of_log_sums(
        Combine(_of_logs, _of_sums), logits, target, mask, positive_weight, negative_weight
    )


def _of_logs(gold: Tensor, other: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    pairs = gold + other
    some = (pairs != -torch.inf).to(pairs.dtype)
    return pairs.masked_fill(some == 0, 0.0), some, some


def _of_sums(sums: Tensor) -> tuple[Tensor, Tensor]:
    return known(sums.log().sum(0), sums), sums.reciprocal()


class BPMLLLoss(LossModule):
    """`bpmll` with a reduction."""

    function = bpmll
    link = "none"
    tasks = ("one", "many")
    soft = False
    extra_logits = 0
    batchwise = False
    over_labels, of_logs = "log_sums", staticmethod(_of_logs)


PART = BPMLLLoss
