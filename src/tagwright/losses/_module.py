"""What every loss module is, and the defaults of what it declares."""

from typing import ClassVar, Literal, Unpack

from torch import Tensor, nn

from tagwright.loss_math.check import REDUCTIONS, chosen
from tagwright.loss_math.sparse import SparseTarget
from tagwright.losses._batch import cell_weights
from tagwright.losses._call import Cells, Loss


class LossModule(nn.Module):
    """What every loss derives from: logits and target in, a value out.

    It reduces the rows of its `function`, whose settings are its attributes of the same names; one
    that declares no function has a `forward` of its own. Where it is `batchwise`, a text's weight
    is multiplied into the weights of its labels.

    `forward(logits, target, *, example_weight=None, mask=None, positive_weight=None,
    negative_weight=None, validate=False)` takes logits (B, L + extra_logits) and a target (B, L),
    float or bool or a `SparseTarget`, and gives a scalar, or (B,) with `reduction="none"`. `mask`
    (B, L) is False where a label takes no part; the weights are (L,) or (B, L). Logits of any size
    give a finite value and gradient.
    """

    function: ClassVar[Loss]
    # how logits become probabilities: sigmoid, sigmoid2, softmax, threshold_class
    link: str = "none"
    tasks: ClassVar[tuple[str, ...]] = ("one", "many")  # one: exactly one label a text; or tokens
    soft: ClassVar[bool] = False  # targets may lie between 0 and 1
    sparse: ClassVar[bool] = True  # takes `SparseTarget` and `SparseMask`
    extra_logits: ClassVar[int] = 0  # 1: a threshold class, whose logit comes last
    batchwise: ClassVar[bool] = False  # its value needs the whole batch; it is a mean over it
    saturates: ClassVar[str] = ""  # why gradients vanish far from the truth, if they do
    # the setting by which sigmoid(s) is less sure than the data
    unsure_by: ClassVar[str | None] = None
    labels: str = "sum"  # what becomes of a row's labels: their sum or their mean
    # what a row is made of: terms, means, log_sums, softmax; "": it needs all logits of a row at
    # once
    over_labels: str = ""
    shift: float | Tensor = 0.0  # what it adds to every logit before anything else
    gamma: float = 0.0  # settings that kernels take in their terms
    gamma_positive: float = 0.0
    gamma_negative: float = 0.0
    clip: float = 0.0
    smooth: float = 0.0

    def __init__(self, *, reduction: Literal["mean", "sum", "none"] = "mean") -> None:
        super().__init__()
        self.reduction = chosen("reduction", reduction, REDUCTIONS)

    def forward(
        self,
        logits: Tensor,
        target: Tensor | SparseTarget,
        *,
        example_weight: Tensor | None = None,
        **cells: Unpack[Cells],
    ) -> Tensor:
        """Logits and target (B, L) -> scalar; the values of the function where the reduction is
        "none".
        """
        function = type(self).function
        if self.batchwise:
            cells, example_weight = cell_weights(cells, example_weight), None
        return function.total(
            logits,
            target,
            example_weight=example_weight,
            reduction=self.reduction,
            factor=1 / max(logits.shape[-1], 1) if self.labels == "mean" else 1.0,
            **{name: getattr(self, name) for name in function.settings},
            **cells,
        )

    @staticmethod
    def of_logs(gold: Tensor, other: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """For `log_sums`: the value of two log sums (B,), and its slope in each."""
        raise NotImplementedError
