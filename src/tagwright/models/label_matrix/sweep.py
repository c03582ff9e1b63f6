"""Sweeps over a label matrix (L, D) in chunks of labels: for a loss and its gradient, and for the
highest labels.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from tagwright.arrays import Range
from tagwright.loss_math.context import Context
from tagwright.loss_math.fused import with_graph
from tagwright.models.label_matrix.row_sums import RowSums

CHUNK = 65536  # labels


class _Sweep(Context, Protocol):
    work: torch.dtype
    sums: RowSums
    chunk: int
    scale: Tensor | None
    whole: Callable[[Tensor], Tensor]
    scaled: bool  # the sweep has made the gradients
    made: list[Tensor | None] | None
    saved_tensors: tuple[Tensor, Tensor, Tensor | None]


class SweepResult(torch.autograd.Function):
    """Values (B,), or with a `scale` (B,) of the rows their scaled sum, whose gradient the first
    sweep makes too.
    """

    @staticmethod
    def forward(
        ctx: _Sweep,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        sums: RowSums,
        chunk: int,
        scale: Tensor | None,
        whole: Callable[[Tensor], Tensor],
    ) -> Tensor:
        ctx.work, ctx.sums, ctx.chunk, ctx.scale, ctx.whole = (
            _work_dtype(weight),
            sums,
            chunk,
            scale,
            whole,
        )
        ctx.save_for_backward(hidden, weight, bias)
        if scale is not None and any(ctx.needs_input_grad[:3]):
            ctx.made = _gradients(ctx, hidden, weight, bias, scale, adding=True)
            ctx.scaled = True
            return (sums.values() * scale).sum()
        for labels in _chunks(len(weight), chunk):
            sums.add(
                _logits(hidden.to(ctx.work), weight, bias, labels, ctx.work, raw=sums.raw), labels
            )
        ctx.scaled = False
        return sums.values() if scale is None else (sums.values() * scale).sum()

    @staticmethod
    def backward(ctx: _Sweep, upstream: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            again = partial(at_once, whole=ctx.whole, scale=ctx.scale, work=ctx.work)
            return *with_graph(again, ctx.saved_tensors, upstream), None, None, None, None
        if not ctx.scaled:
            hidden, weight, bias = ctx.saved_tensors
            return *_gradients(ctx, hidden, weight, bias, upstream), None, None, None, None
        if ctx.made is None:
            raise RuntimeError(
                "this gradient was handed on; a second backward pass needs a loss of reduction"
                ' "none"'
            )
        made, ctx.made = ctx.made, None  # held by nobody else, so that it becomes .grad and no copy
        if upstream.device.type != "cpu" or upstream != 1:
            made = [None if one is None else one.mul_(upstream) for one in made]
        return *made, None, None, None, None


def at_once(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    whole: Callable[[Tensor], Tensor],
    scale: Tensor | None,
    work: torch.dtype | None = None,
) -> Tensor:
    """What `SweepResult` gives, from all logits (B, L) at once, by operations that autograd knows
    to any order.
    """
    work = work or _work_dtype(weight)
    values = whole(_logits(hidden.to(work), weight, bias, slice(0, len(weight)), work))
    return values if scale is None else (values * scale).sum()


def _gradients(
    ctx: _Sweep,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    upstream: Tensor,
    *,
    adding: bool = False,
) -> list[Tensor | None]:
    """The gradients of hidden, weight and bias where the rows' values are multiplied by upstream
    (B,).
    """
    wanted, work, exact = ctx.needs_input_grad, ctx.work, ctx.sums.values().dtype
    feed = hidden.to(work)
    by_hidden = torch.zeros(hidden.shape, dtype=exact, device=hidden.device) if wanted[0] else None
    by_weight = torch.empty_like(weight) if wanted[1] else None
    by_bias = torch.empty_like(bias) if bias is not None and wanted[2] else None
    extra = {"adding": True} if adding else {}
    for labels in _chunks(len(weight), ctx.chunk):
        logits = _logits(feed, weight, bias, labels, work, raw=ctx.sums.raw)
        slope = ctx.sums.slope(logits, labels, upstream, **extra)
        del logits  # the next chunk's take its place
        if by_bias is not None:
            by_bias[labels] = _column_sums(slope)
        slope = slope.to(work)
        if by_hidden is not None:
            _add_product(by_hidden, slope, weight[labels].to(work))
        if by_weight is not None and by_weight.dtype == work:
            torch.mm(slope.T, feed, out=by_weight[labels])
        elif by_weight is not None:
            by_weight[labels] = slope.T @ feed
    return [None if by_hidden is None else by_hidden.to(hidden.dtype), by_weight, by_bias]


class Best(NamedTuple):
    """The highest labels of B texts: logits (B, k), falling, and ids (B, k); log of a sum over all
    labels (B,).
    """

    logits: Tensor
    ids: Tensor
    log_sum: Tensor | None


@torch.no_grad()
def best_labels(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    k: int,
    *,
    chunk: int = CHUNK,
    log_terms: Callable[[Tensor], Tensor] | None = None,
) -> Best:
    """The k highest labels of each text, equals in the order of the labels; all, where there are
    fewer than k.

    The sum is of e^log_terms(s), what probabilities that sum to 1 are divided by; without
    `log_terms` there is none.
    """
    dtype = torch.promote_types(weight.dtype, torch.float32)
    logits = torch.empty(len(hidden), 0, dtype=dtype, device=hidden.device)
    best, log_sum = (
        Best(logits, logits.long(), None),
        torch.full_like(hidden[:, 0], -torch.inf, dtype=dtype),
    )
    work = _work_dtype(weight)
    for labels in _chunks(len(weight), chunk):
        part = _logits(hidden.to(work), weight, bias, labels, work)
        best = _merged(best, *part.topk(min(k, part.shape[1])), labels.start, k)
        if log_terms is not None:
            log_sum = torch.logaddexp(log_sum, log_terms(part).logsumexp(-1))
    return best if log_terms is None else best._replace(log_sum=log_sum)


def _merged(best: Best, logits: Tensor, ids: Tensor, start: int, k: int) -> Best:
    ids, order = ids.sort()
    logits = torch.cat([best.logits, logits.gather(1, order)], 1)
    logits, order = logits.sort(dim=1, descending=True, stable=True)
    ids = torch.cat([best.ids, ids + start], 1).gather(1, order)
    return Best(logits[:, :k], ids[:, :k], None)


def _column_sums(cells: Tensor) -> Tensor:
    """Of (B, C), (C,). On a GPU a product reads faster than a sum."""
    return (cells.new_ones(1, len(cells)) @ cells)[0] if cells.is_cuda else cells.sum(0)


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left @ right, in float32 also where the factors are not: a sum of many chunks must
    not be rounded.
    """
    if total.is_cuda and left.dtype != total.dtype:
        torch.addmm(total, left, right, out_dtype=total.dtype, out=total)
    else:
        total += left @ right


def _logits(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Range,
    work: torch.dtype,
    *,
    raw: bool = False,
) -> Tensor:
    """The logits (B, C) of some labels, `raw` or at least in float32. Autocast has been asked
    already.
    """
    with torch.autocast(hidden.device.type, enabled=False):
        if raw:
            return F.linear(
                hidden, weight[labels].to(work), None if bias is None else bias[labels].to(work)
            )
        part = F.linear(hidden, weight[labels].to(work)).to(
            torch.promote_types(weight.dtype, torch.float32)
        )
    return part if bias is None else part.add_(bias[labels])


def _work_dtype(weight: Tensor) -> torch.dtype:
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype


def _chunks(label_count: int, chunk: int) -> list[Range]:
    return [slice(start, min(start + chunk, label_count)) for start in range(0, label_count, chunk)]
