"""Log-sum-exp pairwise loss (arxiv.org/abs/1704.03135), eq. 12 of ZLPR: a smooth ranking of gold
labels first.
"""

from torch import Tensor

from tagwright.loss_math.sums import Combine, known, of_log_sums
from tagwright.loss_math.terms import softplus
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss(hard=True, marks=True)
def lsep(
    logits: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """log(1 + sum of e^(s_j - s_i) over gold labels i and other labels j).

    Shapes: logits and target (B, L) -> (B,). A pair weighs positive_weight of its gold label times
    negative_weight of the other. Without a pair (no labels, or all): 0.
    Formula: log(1 + Σᵢ Σⱼ e^(sⱼ − sᵢ)) = log(1 + Σᵢ e^(−sᵢ) · Σⱼ e^sⱼ)
    Cost: O(L) a row: the sum over pairs is a product of two sums.

    >>> import torch
    >>> lsep(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor([0.6931])
    """
    return of_log_sums(
        Combine(_of_logs, _of_sums), logits, target, mask, positive_weight, negative_weight
    )


def _of_logs(gold: Tensor, other: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    pairs = gold + other
    return softplus(pairs), pairs.sigmoid(), pairs.sigmoid()


def _of_sums(sums: Tensor) -> tuple[Tensor, Tensor]:
    pairs = sums[0] * sums[1]
    return known(pairs.log1p(), sums), sums.flip(0) / (1 + pairs)


class LSEPLoss(LossModule):
    """`lsep` with a reduction."""

    function = lsep
    link = "none"
    tasks = ("one", "many")
    soft = False
    extra_logits = 0
    batchwise = False
    over_labels, of_logs = "log_sums", staticmethod(_of_logs)


PART = LSEPLoss
