"""CECL, eqs. 5 and 7 of BAT: cross-entropy with a term for every other label, focal and weighted if
asked.
"""

from typing import Literal

from torch import Tensor

from tagwright.loss_math.check import at_least
from tagwright.loss_math.softmax import focal_softmax
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def cecl(
    logits: Tensor,
    target: Tensor,
    *,
    gamma: float = 0.0,
    positive_scale: float = 1.0,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Sum over labels of -(1 - p)^gamma log p for the gold label and -p^gamma log(1 - p) for the
    others, p the softmax.

    Shapes: logits and target (B, L) -> (B,). The softmax stands inside. A masked label leaves it,
    and the target mass that remains is rescaled to its old sum, no label above 1. The weights
    multiply their term; `positive_scale` (the paper's lambda) multiplies the positive weight only.
    A lone label has no rival, and costs nothing.
    Formula: Σₖ −λ yₖ (1 − pₖ)^γ log pₖ − (1 − yₖ) pₖ^γ log(1 − pₖ), p = softmax(s),
    γ = gamma, λ = positive_scale
    Cost: O(L) a row.

    >>> import torch
    >>> cecl(torch.tensor([[0.4, 0.3, 0.3]]).log(), torch.tensor([[1.0, 0.0, 0.0]]))
    tensor([1.6296])
    """
    return focal_softmax(
        logits,
        target,
        gamma=gamma,
        positive_scale=positive_scale,
        predicted_only=False,
        mask=mask,
        positive_weight=positive_weight,
        negative_weight=negative_weight,
    )


class CECLLoss(LossModule):
    """`cecl` with a reduction."""

    function = cecl
    link = "softmax"
    tasks = ("one", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False

    def __init__(
        self,
        *,
        gamma: float = 0.0,
        positive_scale: float = 1.0,
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.gamma = at_least("gamma", gamma, 0.0)
        self.positive_scale = at_least("positive_scale", positive_scale, 0.0)


PART = CECLLoss
