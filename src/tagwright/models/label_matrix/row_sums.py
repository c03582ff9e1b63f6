"""What a loss of (B, L) logits keeps of them when they pass by in chunks of labels: a few numbers a
row.

A loss says what its rows are made of (`over_labels`): `terms`, a sum of terms that each need their
own label alone, `means`, that sum over L, `log_sums`, the sums of gold e^-s and of other e^s, or
`softmax`, the sum of e^s. Each kind has the same two operations on a chunk: `add` it to the row's
sums, and turn it into its `slope`.
"""

import copy
import math
from typing import Protocol

import torch
from torch import Tensor, nn

from tagwright import kernels, registry
from tagwright.arrays import Range
from tagwright.errors import SettingsError
from tagwright.loss_math.check import marked
from tagwright.loss_math.softmax import softmax_cross_entropy
from tagwright.loss_math.sums import log_sum_term, log_sums_of
from tagwright.loss_math.terms import divisor, shares, taking_part, weighted
from tagwright.losses import LossModule
from tagwright.models.label_matrix.columns import Columns, LabelBlock

WEIGHTS = ("positive_weight", "negative_weight")


class RowSums(Protocol):
    """The sums of B rows. `raw` says that logits may come in any dtype."""

    raw: bool

    def add(self, logits: Tensor, labels: Range) -> None:
        """Take in the logits (B, C) of these labels. May change them."""

    def values(self) -> Tensor:
        """The loss of every row (B,), once all labels were added."""

    def slope(self, logits: Tensor, labels: Range, upstream: Tensor) -> Tensor:
        """The gradient (B, C) of the values times upstream (B,), once all were added. May change
        the logits.
        """


def row_sums(loss: LossModule, columns: Columns, rows: int, device: torch.device) -> RowSums:
    """Empty sums of the kind that the loss declares, by kernels where they serve."""
    kind = kind_of(loss)
    zeros = torch.zeros(rows, dtype=columns.dtype, device=device)
    name, weights = type(loss).__module__.rpartition(".")[2], dict(zip(WEIGHTS, columns.weights))
    if kind != "softmax" and kernels.serves(name, zeros[:, None], columns.weights, {}):
        options = {
            key: getattr(loss, key)
            for key in ("gamma", "gamma_positive", "gamma_negative", "clip", "smooth")
        }
        given = name, {**options, "threshold": 0.0}, columns.target, columns.mask, weights
        share = 1 / columns.label_count if kind == "means" else 1.0
        found: RowSums = kernels.sums_of_chunks(kind, zeros, loss.of_logs, share, *given)
        return found
    if kind == "log_sums":
        return LogSums(loss, columns, zeros)
    return Softmax(columns, zeros) if kind == "softmax" else Terms(loss, columns, zeros)


def whole_values(loss: LossModule, columns: Columns, logits: Tensor) -> Tensor:
    """The loss of every row (B,) from all logits at once, by operations that autograd knows to any
    order.
    """
    kind, labels = kind_of(loss), slice(0, columns.label_count)
    if kind in ("terms", "means"):
        return Terms(loss, columns, logits[:, 0]).terms(logits, labels)
    part = columns.part(labels)
    logits = _shown(logits, part)
    if kind == "softmax":
        return marked(softmax_cross_entropy(logits, *part), logits)
    return marked(loss.of_logs(*log_sums_of(logits, *part))[0], logits)


def kind_of(loss: nn.Module) -> str:
    """What the loss's rows are made of; one that needs all logits of a row at once is refused."""
    kind = loss.over_labels if isinstance(loss, LossModule) else ""
    if not kind:
        serving = [
            part.name for part in registry.usable(registry.LOSSES) if part.factory.over_labels
        ]
        raise SettingsError(
            f"{type(loss).__name__} (as it is set) needs all logits of a text at once, so its"
            f" labels cannot come in chunks; losses that can: {', '.join(serving)}, squared_error"
            " with link=sigmoid"
        )
    return kind


class Terms:
    """Sums of terms: the loss itself is called with a chunk as if there were no other labels."""

    raw = False

    def __init__(self, loss: LossModule, columns: Columns, zeros: Tensor) -> None:
        self.loss = copy.copy(loss)
        self.loss.reduction = "none"
        self.means = kind_of(loss) == "means"
        self.columns, self.total = columns, zeros

    def add(self, logits: Tensor, labels: Range) -> None:
        """Add the terms of these labels."""
        self.total = self.total + self.terms(logits, labels)

    def values(self) -> Tensor:
        """The sums (B,)."""
        return self.total

    def slope(
        self, logits: Tensor, labels: Range, upstream: Tensor, *, adding: bool = False
    ) -> Tensor:
        """The gradient (B, C); `adding` takes the chunk in as well, for there is nothing to wait
        for.
        """
        with torch.enable_grad():
            leaf = logits.detach().requires_grad_()
            values = self.terms(leaf, labels)
            (slope,) = torch.autograd.grad(values, leaf, upstream.to(values.dtype))
        if adding:
            self.total = self.total + values.detach()
        return slope

    def terms(self, logits: Tensor, labels: Range) -> Tensor:
        """What these labels add, (B,)."""
        own = self.columns.part(labels)._asdict()
        values: Tensor = self.loss(logits, own.pop("target"), **own)
        # such a loss has divided by the labels of the chunk
        return values * (logits.shape[1] / self.columns.label_count) if self.means else values


class LogSums:
    """The logs of the sums of w⁺ p e^-s and of w⁻ (1 - p) e^s, -inf while empty; the loss combines
    them.
    """

    raw = False

    def __init__(self, loss: LossModule, columns: Columns, zeros: Tensor) -> None:
        self.combine, self.columns = loss.of_logs, columns
        self.gold = self.other = torch.full_like(zeros, -torch.inf)

    def add(self, logits: Tensor, labels: Range) -> None:
        """Add these labels to both sums."""
        logits, gold, other = self._shares(logits, labels)
        self.gold = marked(self.gold, logits)
        low, low_top = log_sum_term(-logits, gold)
        high, high_top = log_sum_term(logits, other)
        self.gold = torch.logaddexp(self.gold, low.sum(-1).log_() + low_top)
        self.other = torch.logaddexp(self.other, high.sum(-1).log_() + high_top)

    def values(self) -> Tensor:
        """What the loss makes of the sums, (B,)."""
        values: Tensor = self.combine(self.gold, self.other)[0]
        return values

    def slope(self, logits: Tensor, labels: Range, upstream: Tensor) -> Tensor:
        """Each label's share of its sums times what the sums move, (B, C)."""
        logits, gold, other = self._shares(logits, labels)
        _, by_gold, by_other = self.combine(self.gold, self.other)
        low = _share(-logits, self.gold).mul_(gold).mul_((upstream * by_gold)[:, None])
        return _share(logits, self.other).mul_(other).mul_((upstream * by_other)[:, None]).sub_(low)

    def _shares(self, logits: Tensor, labels: Range) -> tuple[Tensor, Tensor, Tensor]:
        part = self.columns.part(labels)
        return _shown(logits, part), *shares(*part)


class Softmax:
    """The log of the sum of (t + (1 - t) w⁻) e^s, the sum of w⁺ t and that of w⁺ t s; see
    `cross_entropy`.
    """

    raw = False

    def __init__(self, columns: Columns, zeros: Tensor) -> None:
        self.columns, self.scale = (
            columns,
            None if columns.mask is None else self._kept(columns, zeros),
        )
        self.whole, self.mass, self.inner = torch.full_like(zeros, -torch.inf), zeros, zeros

    def add(self, logits: Tensor, labels: Range) -> None:
        """Add these labels to the sums."""
        part, target, below = self._cells(labels)
        logits = _shown(logits, part)
        self.inner = marked(self.inner, logits)
        gold = weighted(target, part.positive_weight)
        self.mass, self.inner = self.mass + gold.sum(-1), self.inner + (gold * logits).sum(-1)
        terms, top = log_sum_term(logits, below)
        self.whole = torch.logaddexp(self.whole, terms.sum(-1).log_() + top)

    def values(self) -> Tensor:
        """Minus the log chances of the target, (B,)."""
        return self.mass * self.whole.masked_fill(self.whole == -torch.inf, 0.0) - self.inner

    def slope(self, logits: Tensor, labels: Range, upstream: Tensor) -> Tensor:
        """The chance of each label less its target, (B, C)."""
        part, target, below = self._cells(labels)
        chance = (
            _share(_shown(logits, part), self.whole)
            .mul_(below)
            .mul_((upstream * self.mass)[:, None])
        )
        return chance.sub_(weighted(target, part.positive_weight) * upstream[:, None])

    def _cells(self, labels: Range) -> tuple[LabelBlock, Tensor, Tensor]:
        """The part, its target with the mass that a mask leaves, and what each label weighs in the
        softmax.
        """
        part = self.columns.part(labels)
        target = part.target
        if self.scale is not None:
            target = (taking_part(target, part.mask) * self.scale).clamp_max_(1.0)
        below = torch.ones_like(target)
        if part.negative_weight is not None:
            below = target + (1 - target) * part.negative_weight
        return part, target, taking_part(below, part.mask)

    @staticmethod
    def _kept(columns: Columns, zeros: Tensor) -> Tensor:
        """What the target that a mask leaves is multiplied by to have the sum of before, (B, 1)."""
        whole = kept = zeros
        step = 16384
        for start in range(0, columns.label_count, step):
            part = columns.part(slice(start, min(start + step, columns.label_count)))
            whole, kept = (
                whole + part.target.sum(-1),
                kept + taking_part(part.target, part.mask).sum(-1),
            )
        return (whole / divisor(kept))[:, None]


def _shown(logits: Tensor, part: LabelBlock) -> Tensor:
    """Masked logits at 0: whatever they are, they do not count."""
    return logits if part.mask is None else logits.masked_fill(~part.mask, 0.0)


def _share(scores: Tensor, log_sum: Tensor) -> Tensor:
    """e^(s - log of the sum), (B, C), a new tensor; held finite where a label is no part of the
    sum.
    """
    most = math.log(torch.finfo(scores.dtype).max) - 8
    return (
        (scores - log_sum.masked_fill(log_sum == -torch.inf, 0.0)[:, None]).clamp_max_(most).exp_()
    )
