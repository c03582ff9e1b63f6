"""A linear layer and its loss in one, for labels so many that their logits (B, L) would not fit.

The label matrix is taken in chunks: a chunk's logits are made, added to a few sums a row, and
thrown away. For the gradient they are made again, except where each label's term stands alone and
one sweep does both.

All logits exist at once in two cases only: a gradient with a graph of its own
(`create_graph=True`), for second derivatives, and targets or weights that want a gradient
themselves.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.errors import SettingsError, ShapeError
from tagwright.loss_math.check import check, eager
from tagwright.loss_math.fused import learnt
from tagwright.loss_math.reduction import reduced
from tagwright.loss_math.sparse import soft_of
from tagwright.loss_math.terms import divisor
from tagwright.losses import LossModule, SparseMask, SparseTarget
from tagwright.models.label_matrix.columns import Columns
from tagwright.models.label_matrix.row_sums import kind_of, row_sums, whole_values
from tagwright.models.label_matrix.sweep import CHUNK, SweepResult, at_once, best_labels


def linear_loss(
    loss: LossModule,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor | SparseTarget,
    *,
    chunk: int = CHUNK,
    example_weight: Tensor | None = None,
    mask: Tensor | SparseMask | None = None,
    positive_weight: Tensor | None = None,
    negative_weight: Tensor | None = None,
) -> Tensor:
    """`loss(linear(hidden, weight, bias), target, …)`, by the loss's own reduction; the logits
    never exist at once.

    Shapes: hidden (B, D), weight (L, D), bias (L,), target (B, L) -> scalar, or (B,). The products
    are made in the weight's dtype or that of autocast, everything else at least in float32.
    """
    one_by_one = kind_of(loss) in ("terms", "means")
    rows, label_count = len(hidden), len(weight)
    if hidden.ndim != 2 or hidden.shape[1] != weight.shape[1]:
        raise ShapeError(f"hidden must be (B, {weight.shape[1]}), got {tuple(hidden.shape)}")
    dtype = torch.promote_types(weight.dtype, torch.float32)
    weights = {"positive_weight": positive_weight, "negative_weight": negative_weight}
    like = torch.zeros((), dtype=dtype, device=hidden.device).expand(rows, label_count)
    check(like, target, mask, weights, hard=not loss.soft)
    columns = Columns(target, mask, **weights, label_count=label_count, dtype=dtype)
    sums = row_sums(loss, columns, rows, hidden.device)
    offset = _offset(loss, bias, like)
    scale = _scale(loss.reduction, example_weight, rows, like) if one_by_one else None
    whole = partial(whole_values, loss, columns)
    if learnt((soft_of(target), positive_weight, negative_weight)):
        value = at_once(hidden, weight, offset, whole=whole, scale=scale)
    else:
        value = SweepResult.apply(hidden, weight, offset, sums, chunk, scale, whole)
    if hidden.device.type == "cpu" and eager(hidden) and value.detach().isnan().any():
        raise ShapeError(
            "the loss is no number; logits hold NaN or infinity: look at the learning rate or the"
            " input"
        )
    return value if scale is not None else reduced(value, example_weight, loss.reduction)


class LinearObjective(nn.Module):
    """A label matrix and its loss: `linear_loss` with weights of its own, in use like a loss on
    hidden vectors.

    >>> from tagwright.losses import ZLPRLoss
    >>> head = LinearObjective(ZLPRLoss(), 8, 1_000_000)
    >>> one = SparseTarget(torch.tensor([7]), torch.tensor([0, 1]))
    >>> zeros = [nn.init.zeros_(weight) for weight in head.parameters()]
    >>> round(head(torch.ones(1, 8), one).item(), 3)  # log 2 + log 1,000,000
    14.509
    """

    def __init__(
        self,
        loss: LossModule,
        in_features: int,
        label_count: int,
        *,
        bias: bool = True,
        chunk: int = CHUNK,
    ) -> None:
        super().__init__()
        kind_of(loss)
        if chunk < 1:
            raise SettingsError(f"chunk must be at least 1 label, got {chunk}")
        made = nn.Linear(in_features, label_count, bias=bias)
        self.loss, self.chunk = loss, chunk
        self.weight, self.bias = made.weight, made.bias

    def forward(
        self,
        hidden: Tensor,
        target: Tensor | SparseTarget,
        *,
        example_weight: Tensor | None = None,
        mask: Tensor | SparseMask | None = None,
        positive_weight: Tensor | None = None,
        negative_weight: Tensor | None = None,
    ) -> Tensor:
        """Hidden (B, D) and target (B, L) -> scalar, or (B,) when the loss's reduction is
        "none".
        """
        return linear_loss(
            self.loss,
            hidden,
            self.weight,
            self.bias,
            target,
            chunk=self.chunk,
            example_weight=example_weight,
            mask=mask,
            positive_weight=positive_weight,
            negative_weight=negative_weight,
        )

    def logits(self, hidden: Tensor) -> Tensor:
        """All logits (B, L), for labels that are few."""
        return F.linear(hidden.to(self.weight.dtype), self.weight, self.bias)

    def top_k(self, hidden: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Logits (B, k), falling, and ids (B, k) of the highest labels."""
        best = best_labels(hidden, self.weight, self.bias, k, chunk=self.chunk)
        return best.logits, best.ids


def _offset(loss: LossModule, bias: Tensor | None, like: Tensor) -> Tensor | None:
    """The bias, with what the loss adds to every label's logit before anything else; (L,) or
    None.
    """
    shift = loss.shift
    if not isinstance(shift, Tensor) and shift == 0:
        return bias
    whole = torch.as_tensor(shift, dtype=like.dtype, device=like.device).expand(like.shape[1])
    return whole if bias is None else bias + whole


def _scale(reduction: str, example_weight: Tensor | None, rows: int, like: Tensor) -> Tensor | None:
    """What each row's value counts in the reduced loss, (B,); None where values must come out one
    by one.
    """
    if reduction == "none" or (example_weight is not None and example_weight.requires_grad):
        return None
    if example_weight is None:
        return torch.full(
            (rows,),
            1 / max(rows, 1) if reduction == "mean" else 1.0,
            dtype=like.dtype,
            device=like.device,
        )
    if example_weight.shape != (rows,):
        raise ShapeError(f"example_weight must be ({rows},), got {tuple(example_weight.shape)}")
    whole = divisor(example_weight.sum().to(like.dtype)) if reduction == "mean" else 1.0
    return (example_weight / whole).to(like.dtype)
