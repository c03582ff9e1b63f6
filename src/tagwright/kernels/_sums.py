"""Losses of two sums, of gold e^-s and of other e^s: the sums in one pass over a row, its gradient
in a second.

The second pass should find the logits in the cache. A row of 131,072 bfloat16 logits takes 256 KB:
the rows of 132 multiprocessors fit, if each has one at a time (a program of 32 warps) and the
gradient does not drive them out. So what the first pass reads is kept, and what the second reads
and writes goes first.
"""

import triton
import triton.language as tl

from tagwright.kernels._cells import NOTHING, block_of, bounds, first_listed, listed_at, logits_at
from tagwright.kernels._math import exp, log


@triton.jit
def _sums(
    cells,
    gold_top,
    other_top,
    SOFT: tl.constexpr,
    EVEN: tl.constexpr,
    BLOCK: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """Sums of w⁺ p e^(-s - gold_top) and of w⁻ (1 - p) e^(s - other_top)."""
    golds, others = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    gold, off = first_listed(cells, WINDOW)
    ahead = logits_at(cells, 0, "evict_last", EVEN, BLOCK)
    for start in range(0, cells[2], BLOCK):
        raw, ahead = ahead, logits_at(cells, start + BLOCK, "evict_last", EVEN, BLOCK)
        _, _, s, of_gold, of_other, gold, off = block_of(
            cells, raw, start, gold, off, True, SOFT, EVEN, BLOCK, WINDOW
        )
        others += s * 0.0  # of an infinite logit: no number, also where its term is 0
        if SOFT:
            golds += tl.where(of_gold > 0, of_gold * exp(-s - gold_top), 0.0)
            others += tl.where(of_other > 0, of_other * exp(s - other_top), 0.0)
        else:
            others += of_other * exp(s - other_top)
    gold_sum, other_sum = tl.sum(golds, axis=0), tl.sum(others, axis=0)
    listed = cells[10]
    if listed[0] is not None:
        for start in range(listed[1], listed[2], WINDOW):
            _, part, s, of_gold, of_other = listed_at(cells, start, WINDOW)
            terms = tl.where(of_gold > 0, of_gold * exp(-s - gold_top), 0.0) + s * 0.0
            gold_sum += tl.sum(tl.where(part, terms, 0.0), axis=0)
            if listed[3] is not None:
                other_sum += tl.sum(
                    tl.where(part & (of_other > 0), of_other * exp(s - other_top), 0.0), axis=0
                )
    return gold_sum, other_sum


@triton.jit
def _tops(cells, SOFT: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr):
    """The highest -s of a gold label and the highest s of another; 0 where there is none."""
    golds = tl.full((BLOCK,), NOTHING, tl.float32)
    others = tl.full((BLOCK,), NOTHING, tl.float32)
    gold, off = first_listed(cells, WINDOW)
    ahead = logits_at(cells, 0, "evict_last", EVEN, BLOCK)
    for start in range(0, cells[2], BLOCK):
        raw, ahead = ahead, logits_at(cells, start + BLOCK, "evict_last", EVEN, BLOCK)
        _, _, s, of_gold, of_other, gold, off = block_of(
            cells, raw, start, gold, off, True, SOFT, EVEN, BLOCK, WINDOW
        )
        if SOFT:
            golds = tl.maximum(golds, tl.where(of_gold > 0, -s, NOTHING))
            s = tl.where(of_other > 0, s, NOTHING)
        others = tl.maximum(others, s)
    gold_top, other_top = tl.max(golds, axis=0), tl.max(others, axis=0)
    listed = cells[10]
    if listed[0] is not None:
        for start in range(listed[1], listed[2], WINDOW):
            _, part, s, of_gold, of_other = listed_at(cells, start, WINDOW)
            gold_top = tl.maximum(
                gold_top, tl.max(tl.where(part & (of_gold > 0), -s, NOTHING), axis=0)
            )
            other_top = tl.maximum(
                other_top, tl.max(tl.where(part & (of_other > 0), s, NOTHING), axis=0)
            )
    return tl.where(gold_top == NOTHING, 0.0, gold_top), tl.where(
        other_top == NOTHING, 0.0, other_top
    )


@triton.jit
def _log_sums(
    cells,
    PAIRS: tl.constexpr,
    SOFT: tl.constexpr,
    EVEN: tl.constexpr,
    BLOCK: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """The logarithms of both sums, -inf for one without a term."""
    gold_sum, other_sum = _sums(cells, 0.0, 0.0, SOFT, EVEN, BLOCK, WINDOW)
    gold_top, other_top = tl.zeros_like(gold_sum), tl.zeros_like(other_sum)
    plain = (gold_sum < 1e30) & (other_sum < 1e30)
    # a sum that is all but 0 counts where it meets a very large one; in log(1 + sum) it does not
    if PAIRS:
        plain &= (gold_sum > 1e-30) & (other_sum > 1e-30)
        if not SOFT:
            plain |= (cells[10][1] == cells[10][2]) & (other_sum < 1e30)
    if plain == 0:  # start from the highest, whose exponential is 1
        gold_top, other_top = _tops(cells, SOFT, EVEN, BLOCK, WINDOW)
        gold_sum, other_sum = _sums(cells, gold_top, other_top, SOFT, EVEN, BLOCK, WINDOW)
    return log(gold_sum) + gold_top, log(other_sum) + other_top


@triton.jit
def _log_add(a, b):
    """log(e^a + e^b), -inf where both are."""
    top = tl.maximum(a, b)
    top = tl.where(top == -float("inf"), 0.0, top)
    return log(exp(a - top) + exp(b - top)) + top


@triton.jit
def _slopes(
    cells, slopes, gold_log, other_log, by_gold, by_other,
    SOFT: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    """Store the gradient of a row, given its sums and the derivatives of its value by their
    logs.
    """
    negative, golds, offs = cells[9], cells[10], cells[11]
    # of an empty sum nothing is asked, so any shift serves but infinity
    gold_log = tl.where(gold_log == -float("inf"), 0.0, gold_log)
    other_log = tl.where(other_log == -float("inf"), 0.0, other_log)
    ahead = logits_at(cells, 0, "evict_first", EVEN, BLOCK)
    for start in range(0, cells[2], BLOCK):
        raw, ahead = ahead, logits_at(cells, start + BLOCK, "evict_first", EVEN, BLOCK)
        columns, inside, s, of_gold, of_other, _, _ = block_of(
            cells, raw, start, 0, 0, False, SOFT, EVEN, BLOCK, WINDOW
        )
        if (
            SOFT or negative[0] is not None
        ):  # a cell of no weight may lie far above the sum, and 0 * inf is none
            slope = by_other * of_other * exp(tl.minimum(s - other_log, 87.0))
        else:
            slope = by_other * exp(s - other_log)
        if SOFT:
            slope -= by_gold * of_gold * exp(tl.minimum(-s - gold_log, 87.0))
        if EVEN:
            tl.store(slopes + columns, slope, eviction_policy="evict_first")
        else:
            tl.store(slopes + columns, slope, mask=inside)
    if golds[0] is not None:
        tl.debug_barrier()  # what follows stores over what other threads have stored
        for start in range(golds[1], golds[2], WINDOW):
            columns, part, s, of_gold, of_other = listed_at(cells, start, WINDOW)
            slope = by_other * of_other * exp(tl.minimum(s - other_log, 87.0))
            slope -= by_gold * of_gold * exp(tl.minimum(-s - gold_log, 87.0))
            tl.store(slopes + columns, slope, mask=part)
    if offs[0] is not None:
        tl.debug_barrier()
        for start in range(offs[1], offs[2], WINDOW):
            place = start + tl.arange(0, WINDOW)
            columns = (
                tl.load(offs[0] + place, mask=place < offs[2], other=-1).to(tl.int32) - cells[1]
            )
            inside = (columns >= 0) & (columns < cells[2])
            tl.store(slopes + columns, tl.zeros((WINDOW,), tl.float32), mask=inside)


@triton.jit
def sum_rows(
    row_count, label_count, origin, logits, logit_stride, target, target_stride, ids, offsets, soft,
    background,
    mask, mask_stride, off_ids, off_offsets, positive, positive_row, positive_label,
    negative, negative_row, negative_label, a, b, c, upstream, scale, values, logs, gradient,
    FORM: tl.constexpr, PAIRS: tl.constexpr, SOFT: tl.constexpr, ADD: tl.constexpr,
    EVEN: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    """One row: value and gradient, each where there is one, times `scale` and upstream[row].

    `FORM(gold, other)` makes of the logs of the sums the value and its derivatives by both. `logs`
    (2, rows) gets the logs, or gives them where the gradient alone is asked for. `ADD` adds to
    those there.
    """
    row = tl.program_id(0).to(tl.int64)
    begin, end = bounds(ids, offsets, row)
    off_begin, off_end = bounds(off_ids, off_offsets, row)
    cells = (
        row, origin, label_count, logits + row * logit_stride, a,
        (target, target_stride), background, (mask, mask_stride),
        (positive, positive_row, positive_label), (negative, negative_row, negative_label),
        (ids, begin, end, soft), (off_ids, off_begin, off_end),
    )  # fmt: skip
    if values is None and gradient is not None:
        gold_log, other_log = tl.load(logs + row), tl.load(logs + row_count + row)
    else:
        gold_log, other_log = _log_sums(cells, PAIRS, SOFT, EVEN, BLOCK, WINDOW)
        if ADD:
            gold_log = _log_add(gold_log, tl.load(logs + row))
            other_log = _log_add(other_log, tl.load(logs + row_count + row))
        if logs is not None:
            tl.store(logs + row, gold_log)
            tl.store(logs + row_count + row, other_log)
    factor = scale
    if upstream is not None:
        factor = scale * tl.load(upstream + row).to(tl.float32)
    value, by_gold, by_other = FORM(gold_log, other_log)
    if values is not None:
        tl.store(values + row, value * factor)
    if gradient is not None:
        slopes = gradient + row * label_count
        _slopes(
            cells,
            slopes,
            gold_log,
            other_log,
            by_gold * factor,
            by_other * factor,
            SOFT,
            EVEN,
            BLOCK,
            WINDOW,
        )
