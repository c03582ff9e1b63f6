"""Squared error of the probabilities, the auxiliary term of KWLS eq. 9: made for soft targets."""

from typing import Literal

import torch
from torch import Tensor

from tagwright.loss_math.check import chosen
from tagwright.loss_math.softmax import kept_mass, log_chances
from tagwright.loss_math.terms import taking_part, weighted
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def squared_error(
    logits: Tensor,
    target: Tensor,
    *,
    link: Literal["softmax", "sigmoid"] = "softmax",
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Mean over labels of (target - probability)², masked labels counted in the divisor.

    Shapes: logits and target (B, L) -> (B,). A cell's weight is positive_weight for the target's
    share and negative_weight for the rest. Under a softmax a masked label leaves it, and the
    remaining mass is rescaled, no label above 1.
    Formula: (1 / L) Σₖ (yₖ − pₖ)², p = softmax(s) or σ(s)
    Cost: O(L) a row.

    >>> squared_error(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor([0.2500])
    """
    if link == "softmax":
        target = kept_mass(target, mask)
        chance = log_chances(logits, mask)[0].exp()
    else:
        chance = torch.sigmoid(logits)
    weight = weighted(target, positive_weight) + weighted(1 - target, negative_weight)
    return taking_part(weight * (target - chance).square(), mask).sum(-1) / logits.shape[-1]


class SquaredErrorLoss(LossModule):
    """`squared_error` with a reduction."""

    function = squared_error
    link = "softmax"
    tasks = ("one", "many", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    saturates = (
        "a probability near 0 or 1 hardly moves with its logit, and the loss is a function of the"
        " probability"
    )

    def __init__(
        self,
        *,
        link: Literal["softmax", "sigmoid"] = "softmax",
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.link = chosen("link", link, ("softmax", "sigmoid"))
        self.over_labels = "means" if link == "sigmoid" else ""


PART = SquaredErrorLoss
