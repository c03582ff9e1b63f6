"""Losses that are a sum over labels, each label on its own: a row's value and gradient in one pass
over its logits.

A sparse target is a list of cells. The pass takes every cell for another label, leaving the listed
ones out of the sum; these then come by themselves, and write their gradient over what the pass has
put there.
"""

import triton
import triton.language as tl

from tagwright.kernels._cells import block_of, bounds, first_listed, listed_at, logits_at


@triton.jit
def term_rows(
    row_count, label_count, origin, logits, logit_stride, target, target_stride, ids, offsets, soft,
    background,
    mask, mask_stride, off_ids, off_offsets, positive, positive_row, positive_label,
    negative, negative_row, negative_label, a, b, c, upstream, scale, values, logs, gradient,
    FORM: tl.constexpr, PAIRS: tl.constexpr, SOFT: tl.constexpr, ADD: tl.constexpr,
    EVEN: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    """One row: values[row] and gradient[row], each where there is one, times `scale` and
    upstream[row].

    `FORM(s, a, b, c)` gives value and slope of a gold label, then of another. `ADD` adds the bare
    value to that which is there.
    """
    row = tl.program_id(0).to(tl.int64)
    begin, end = bounds(ids, offsets, row)
    off_begin, off_end = bounds(off_ids, off_offsets, row)
    cells = (
        row, origin, label_count, logits + row * logit_stride, None,
        (target, target_stride), background, (mask, mask_stride),
        (positive, positive_row, positive_label), (negative, negative_row, negative_label),
        (ids, begin, end, soft), (off_ids, off_begin, off_end),
    )  # fmt: skip
    factor = scale
    if upstream is not None:
        factor = scale * tl.load(upstream + row).to(tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    gold, off = first_listed(cells, WINDOW)
    ahead = logits_at(cells, 0, "", EVEN, BLOCK)
    for start in range(0, label_count, BLOCK):
        raw, ahead = ahead, logits_at(cells, start + BLOCK, "", EVEN, BLOCK)
        columns, inside, s, of_gold, of_other, gold, off = block_of(
            cells, raw, start, gold, off, True, SOFT, EVEN, BLOCK, WINDOW
        )
        gold_value, gold_slope, value, slope = FORM(s, a, b, c)
        value, slope = of_other * value, of_other * slope
        if SOFT:
            value, slope = value + of_gold * gold_value, slope + of_gold * gold_slope
        sums += value + s * 0.0  # of an infinite logit: no number, also where its term is 0
        if gradient is not None:
            if EVEN:
                tl.store(gradient + row * label_count + columns, slope * factor)
            else:
                tl.store(gradient + row * label_count + columns, slope * factor, mask=inside)
    total = tl.sum(sums, axis=0)
    if ids is not None:
        tl.debug_barrier()  # what follows stores over what other threads have stored
        for start in range(begin, end, WINDOW):
            columns, part, s, of_gold, of_other = listed_at(cells, start, WINDOW)
            gold_value, gold_slope, value, slope = FORM(s, a, b, c)
            total += tl.sum(
                tl.where(part, of_gold * gold_value + of_other * value + s * 0.0, 0.0), axis=0
            )
            if gradient is not None:
                slope = (of_gold * gold_slope + of_other * slope) * factor
                tl.store(gradient + row * label_count + columns, slope, mask=part)
    if values is not None:
        if ADD:
            tl.store(values + row, tl.load(values + row) + total)
        else:
            tl.store(values + row, total * factor)
