"""Softmax cross-entropy for labels that exclude each other; takes one-hot or soft targets."""

from torch import Tensor

from tagwright.loss_math.softmax import softmax_cross_entropy
from tagwright.losses._call import loss
from tagwright.losses._module import LossModule


@loss()
def cross_entropy(
    logits: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """Minus the sum over labels of target times log softmax.

    Shapes: logits and target (B, L) -> (B,). A masked label leaves the softmax, and the target mass
    that remains is rescaled to its old sum, no label above 1. `positive_weight` multiplies a
    label's own term; `negative_weight` stands inside the softmax, whose sum is over (t + (1 - t) w)
    e^s, t the target. No target mass: 0.
    Formula: −Σₖ yₖ log pₖ, p = softmax(s)
    Cost: O(L) a row.

    >>> import torch
    >>> cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([0.6931])
    """
    return softmax_cross_entropy(logits, target, mask, positive_weight, negative_weight)


class CrossEntropyLoss(LossModule):
    """`cross_entropy` with a reduction."""

    function = cross_entropy
    link = "softmax"
    tasks = ("one", "tokens")
    soft = True
    extra_logits = 0
    batchwise = False
    over_labels = "softmax"


PART = CrossEntropyLoss
