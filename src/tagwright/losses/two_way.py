"""Two-way loss (Kobayashi, CVPR 2023): gold above other labels of a text, and above other texts of
a label.
"""

from typing import Literal, Unpack

from torch import Tensor

from tagwright.errors import ShapeError
from tagwright.loss_math.check import above
from tagwright.loss_math.reduction import reduced
from tagwright.loss_math.sparse import SparseTarget
from tagwright.loss_math.sums import log_sum_exp
from tagwright.loss_math.terms import divisor, log_share, shares, softplus
from tagwright.losses._call import Cells, loss
from tagwright.losses._module import LossModule


@loss(hard=True, batchwise=True, sparse=False)
def two_way(
    logits: Tensor,
    target: Tensor,
    *,
    positive_temperature: float = 4.0,
    negative_temperature: float = 1.0,
    example_weight: Tensor | None = None,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Mean over texts plus mean over labels of softplus(T⁻ log Σ e^(s/T⁻) of others + T⁺ log Σ
    e^(-s/T⁺) of gold).

    Shapes: logits and target (B, L), example_weight (B,) -> (1,). Texts and labels without a gold
    cell are left out of their mean. Weights of cells stand inside the sums; an example's weight
    too, and in the mean over texts. Targets must be dense, for a column of them runs over the whole
    batch.
    Formula: mean over texts of log(1 + e^u),
    u = T⁻ log Σⱼ e^(sⱼ / T⁻) + T⁺ log Σᵢ e^(−sᵢ / T⁺),
    plus the mean over labels of the same, i and j then the label's texts
    Cost: O(B L) a batch.

    >>> import torch
    >>> two_way(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor([0.6931])
    """
    gold, other = shares(target, mask, positive_weight, negative_weight)
    weight = logits.new_ones(len(logits)) if example_weight is None else example_weight
    if weight.shape != logits.shape[:1]:
        raise ShapeError(
            f"example_weight must be {tuple(logits.shape[:1])}, got {tuple(weight.shape)}"
        )
    temperatures = positive_temperature, negative_temperature
    by_text, has_gold = _one_way(logits, gold, other, *temperatures)
    by_label, has_text = _one_way(
        logits.T, (gold * weight[:, None]).T, (other * weight[:, None]).T, *temperatures
    )
    return (_mean(by_text, weight * has_gold) + _mean(by_label, has_text.to(weight.dtype)))[None]


def _one_way(
    logits: Tensor,
    gold: Tensor,
    other: Tensor,
    positive_temperature: float,
    negative_temperature: float,
) -> tuple[Tensor, Tensor]:
    """One value a row, (B,), and whether the row has a gold cell, (B,)."""
    low = log_sum_exp(log_share(gold) - logits / positive_temperature)
    high = log_sum_exp(log_share(other) + logits / negative_temperature)
    has_gold = (gold > 0).any(-1)
    return softplus(positive_temperature * low + negative_temperature * high), has_gold


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / divisor(weight.sum().to(values.dtype))


class TwoWayLoss(LossModule):
    """`two_way`; one value a batch, so that every reduction is the same. Parts of a batch do not
    add up.
    """

    link = "none"
    tasks = ("one", "many")
    soft = False
    extra_logits = 0
    batchwise = True
    sparse = False

    def __init__(
        self,
        *,
        positive_temperature: float = 4.0,
        negative_temperature: float = 1.0,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.positive_temperature = above("positive_temperature", positive_temperature, 0.0)
        self.negative_temperature = above("negative_temperature", negative_temperature, 0.0)

    def forward(
        self,
        logits: Tensor,
        target: Tensor | SparseTarget,
        *,
        example_weight: Tensor | None = None,
        **cells: Unpack[Cells],
    ) -> Tensor:
        """Logits and target (B, L) -> scalar, or (1,) when the reduction is "none"."""
        values = two_way(
            logits,
            target,
            positive_temperature=self.positive_temperature,
            negative_temperature=self.negative_temperature,
            example_weight=example_weight,
            **cells,
        )
        return reduced(values, None, self.reduction)


PART = TwoWayLoss
