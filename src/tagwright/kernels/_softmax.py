"""Losses of a softmax over few labels: some whole rows at a time, value and gradient at once.

Only the highest chance p of a row can be so near to 1 that 1 - p has no digits left. It goes its own way, by the sum of
the others: log(1 - p) is the log of their share, and p_j / (1 - p) is what label j is among them.
"""

import triton
import triton.language as tl

from tagwright.kernels._cells import NOTHING
from tagwright.kernels._math import LOG2E, exp, exp2, log, log1p, reciprocal


@triton.jit
def _cut(pointer, rows, row_stride, columns, column_stride, inside, none, EVEN: tl.constexpr):
    """A tile of a matrix, `none` where there is no matrix."""
    if pointer is None:
        return none
    else:
        places = pointer + (rows[:, None] * row_stride + columns[None, :] * column_stride)
        if EVEN:
            return tl.load(places).to(tl.float32)
        else:
            return tl.load(places, mask=inside, other=0.0).to(tl.float32)


@triton.jit
def _marked(tile, ids, offsets, soft, rows, valid, columns):
    """The tile (R, C) with the value of every listed cell put in its place, 1 where there are no values."""
    begin = tl.load(offsets + rows, mask=valid, other=0)
    count = (tl.load(offsets + rows + 1, mask=valid, other=0) - begin).to(tl.int32)
    for step in range(tl.max(count, axis=0)):
        there = step < count
        label = tl.load(ids + begin + step, mask=there, other=-1).to(tl.int32)
        if soft is None:
            tile = tl.where(columns[None, :] == label[:, None], 1.0, tile)
        else:
            value = tl.load(soft + begin + step, mask=there, other=0.0).to(tl.float32)
            tile = tl.where(columns[None, :] == label[:, None], value[:, None], tile)
    return tile


@triton.jit
def softmax_rows(
    row_count, label_count, origin, logits, logit_stride, target, target_stride, ids, offsets, soft, background,
    mask, mask_stride, off_ids, off_offsets, positive, positive_row, positive_label,
    negative, negative_row, negative_label, a, b, c, upstream, scale, values, logs, gradient,
    FORM: tl.constexpr, FOCAL: tl.constexpr, TOTAL: tl.constexpr,
    EVEN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """ROWS rows: values and gradient, each where there is one, times `scale` and upstream[row].

    `a` is gamma, `b` what the positive term is scaled by. FORM says whether only the highest label has a negative term.
    With TOTAL the values are one for the program: the sum of its rows. EVEN: the tiles fill the matrix.
    """
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns, valid = tl.arange(0, BLOCK), rows < row_count
    inside = valid[:, None] & (columns < label_count)[None, :]
    s = _cut(logits, rows, logit_stride, columns, 1, inside, 0.0, EVEN)
    truth = tl.full((ROWS, BLOCK), 0.0, tl.float32) + background
    if target is not None:
        truth = _cut(target, rows, target_stride, columns, 1, inside, 0.0, EVEN)
    if ids is not None:
        truth = _marked(truth, ids, offsets, soft, rows, valid, columns)
    part = inside
    if mask is not None:
        part &= _cut(mask, rows, mask_stride, columns, 1, inside, 0.0, EVEN) != 0
    if off_ids is not None:
        part &= _marked(tl.zeros((ROWS, BLOCK), tl.float32), off_ids, off_offsets, None, rows, valid, columns) == 0
    if (mask is not None) or (off_ids is not None):  # the mass that is left takes up what the masked labels had
        whole_mass = tl.sum(tl.where(inside, truth, 0.0), axis=1)
        kept_mass = tl.sum(tl.where(part, truth, 0.0), axis=1)
        truth *= (whole_mass / tl.maximum(kept_mass, 1e-38))[:, None]
    if (mask is not None) or (off_ids is not None) or (not EVEN):
        # a label of this logit has the chance 0, and no term of others
        truth, s = tl.where(part, truth, 0.0), tl.where(part, s, NOTHING)

    top = tl.max(s, axis=1)
    first = tl.min(tl.where(s == top[:, None], columns[None, :], BLOCK), axis=1)
    # 1 at the highest label and 0 elsewhere, as numbers: products with them cost less than choices
    is_top = tl.where(columns[None, :] == first[:, None], 1.0, 0.0)
    power = exp2(s * LOG2E - (top * LOG2E)[:, None])
    rivals = power - power * is_top
    others = tl.sum(rivals, axis=1)
    inverse, among = reciprocal(1.0 + others), reciprocal(others)
    log_whole = tl.where(others < 1.0, log1p(others), log(1.0 + others))
    rest = 1.0 - rivals * inverse[:, None]
    log_rest, odds = log(rest), rivals * inverse[:, None] * reciprocal(rest)  # both 0 at the highest label
    rest_of_top, rivalled = log(others) - log_whole, tl.full((ROWS,), 1.0, tl.float32)
    if tl.min(others, axis=0) < 1e-30:  # the others have to start from their own highest
        below = tl.where(is_top > 0, NOTHING, s)
        second = tl.max(below, axis=1)
        alone = second == NOTHING
        rivals = tl.where(alone[:, None] | (is_top > 0), 0.0, exp(below - second[:, None]))
        sums = tl.sum(rivals, axis=1)
        rest_of_top = tl.where(alone, 0.0, second - top + log(sums) - log_whole)  # alone: log(1 - p) is given as 0
        among, rivalled = reciprocal(tl.maximum(sums, 1e-30)), tl.where(alone, 0.0, 1.0)
    log_chance = s - (top + log_whole)[:, None]

    of_gold = b * truth * _cut(positive, rows, positive_row, columns, positive_label, inside, 1.0, EVEN)
    of_other = (1.0 - truth) * _cut(negative, rows, negative_row, columns, negative_label, inside, 1.0, EVEN)
    if FORM:
        of_other *= is_top
    if (mask is not None) or (off_ids is not None):  # of a row that is masked as a whole, all labels are the highest
        of_other = tl.where(part, of_other, 0.0)
    if FOCAL:
        of_other *= exp(a * log_chance)
        tilt = log_chance * odds  # log p * p / (1 - p), which is -1 where p is 1
        near = tl.where(others > 1e-6, -log_whole / tl.where(others > 1e-6, others, 1.0), -1.0)
        tilt += is_top * near[:, None]
        whole_rest = log_rest + is_top * rest_of_top[:, None]
        of_gold *= exp(a * whole_rest)
        slope = -of_gold * (1.0 - a * tilt) - of_other * a * whole_rest
    else:
        slope = -of_gold
    of_top = tl.sum(of_other * is_top, axis=1) * rivalled
    factor = tl.full((ROWS,), 0.0, tl.float32) + scale
    if upstream is not None:
        factor *= tl.load(upstream + rows, mask=valid, other=0.0).to(tl.float32)
    if values is not None:
        value = -(tl.sum(of_gold * log_chance + of_other * log_rest, axis=1) + of_top * rest_of_top) * factor
        if TOTAL:
            tl.store(values + tl.program_id(0), tl.sum(value if EVEN else tl.where(valid, value, 0.0), axis=0))
        else:
            tl.store(values + rows, value, mask=valid)
    if gradient is not None:
        slope += of_other * odds
        slope -= power * (inverse * tl.sum(slope, axis=1))[:, None]
        pulled = of_top * inverse
        slope += is_top * pulled[:, None] - rivals * (pulled * among)[:, None]
        slope *= factor[:, None]
        places = gradient + (rows[:, None] * label_count + columns[None, :])
        if EVEN:
            tl.store(places, slope)
        else:
            tl.store(places, slope, mask=inside)
