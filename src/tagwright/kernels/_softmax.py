"""Losses of a softmax over few labels: some whole rows at a time, value and gradient at once.

Only the highest chance p of a row can be so near to 1 that 1 - p has no digits left. It goes its
own way, by the sum of the others: log(1 - p) is the log of their share, and p_j / (1 - p) is what
label j is among them. Logarithms are to base 2 until the value is there.
"""

import triton
import triton.language as tl

from tagwright.kernels._cells import NOTHING
from tagwright.kernels._math import (
    LN2,
    LOG2E,
    exp,
    exp2,
    log1p,
    log2,
    log2_less,
    reciprocal,
    widened,
)


@triton.jit
def _places(
    pointer, start, row_stride, column_stride, left, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """Where the two halves of the rows from `start` on lie, and which cells there are; `left` is
    (rows, labels).
    """
    rows, half = tl.arange(0, ROWS), tl.arange(0, BLOCK // 2)
    near = (
        pointer
        + start.to(tl.int64) * row_stride
        + (rows[:, None] * row_stride + half[None, :] * column_stride)
    )
    valid = rows[:, None] < left[0]
    inside = valid & (half[None, :] < left[1]), valid & (half[None, :] + BLOCK // 2 < left[1])
    return near, near + BLOCK // 2 * column_stride, inside[0], inside[1]


@triton.jit
def _cut(
    pointer, start, row_stride, column_stride, left, EVEN: tl.constexpr, ROWS: tl.constexpr, BLOCK:
    tl.constexpr
):  # fmt: skip
    """Rows of a matrix as a tile, a cell of their first half and one of the second by turns; 1 if
    there is no matrix.

    So a thread has twice as many cells of a row as one load gives it, and the sums of a row need
    few exchanges.
    """
    if pointer is None:
        return 1.0
    else:
        near, far, has_near, has_far = _places(
            pointer, start, row_stride, column_stride, left, ROWS, BLOCK
        )
        if EVEN:
            return tl.interleave(widened(tl.load(near)), widened(tl.load(far)))
        else:
            near, far = (
                tl.load(near, mask=has_near, other=0.0),
                tl.load(far, mask=has_far, other=0.0),
            )
            return tl.interleave(widened(near), widened(far))


@triton.jit
def _put(pointer, start, tile, left, EVEN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Write a tile to where `_cut` would read it."""
    near, far, has_near, has_far = _places(pointer, start, left[1], 1, left, ROWS, BLOCK)
    tile = tl.reshape(tile.to(pointer.dtype.element_ty), (ROWS, BLOCK // 2, 2))
    first, second = tl.split(tile)
    if EVEN:
        tl.store(near, first)
        tl.store(far, second)
    else:
        tl.store(near, first, mask=has_near)
        tl.store(far, second, mask=has_far)


@triton.jit
def _columns(BLOCK: tl.constexpr):
    """Which label stands at each place of a tile's rows."""
    place = tl.arange(0, BLOCK)
    return place // 2 + place % 2 * (BLOCK // 2)


@triton.jit
def _is_label(label, BLOCK: tl.constexpr):
    """Where in a tile the labels (R,) are. 16 cells lie in one thread: compared like this, they
    need no number each.
    """
    place = tl.arange(0, BLOCK)
    return (place % 16 // 2 + place % 2 * (BLOCK // 2))[None, :] == label[:, None] - (
        place // 16 * 8
    )[None, :]


@triton.jit
def _listed(ids, offsets, start, row_count, ONE: tl.constexpr, ROWS: tl.constexpr):
    """Of each row: the place of its first id, how many it has, how many have still to be read, the
    one that has been.

    With ONE there are as many ids as rows, hence most likely one a row: it is read before the
    offsets have come.
    """
    rows = tl.arange(0, ROWS)
    begin = tl.load(offsets + start + rows, mask=rows < row_count, other=0).to(tl.int32)
    count = tl.load(offsets + start + rows + 1, mask=rows < row_count, other=0).to(tl.int32) - begin
    if ONE:
        label = tl.load(ids + start + rows, mask=rows < row_count, other=0).to(tl.int32)
        as_guessed = (begin == start + rows) & (count == 1)
        return begin, count, tl.where(as_guessed, 0, count), tl.where(as_guessed, label, -1)
    else:
        return begin, count, count, begin


@triton.jit
def _marked(tile, ids, soft, listed, ONE: tl.constexpr, BLOCK: tl.constexpr):
    """The tile (R, C) with the value of every listed cell put in its place, 1 where there are no
    values.
    """
    begin, _, unread, label = listed
    if ONE:
        tile = _mark(tile, label, soft, begin, BLOCK)
    for step in range(tl.max(unread, axis=0)):
        label = tl.load(ids + begin + step, mask=step < unread, other=-1).to(tl.int32)
        tile = _mark(tile, label, soft, begin + step, BLOCK)
    return tile


@triton.jit
def _mark(tile, label, soft, places, BLOCK: tl.constexpr):
    if soft is None:
        return tl.where(_is_label(label, BLOCK), 1.0, tile)
    else:
        value = tl.load(soft + places, mask=label >= 0, other=0.0).to(tl.float32)
        return tl.where(_is_label(label, BLOCK), value[:, None], tile)


@triton.jit
def _rivals(s, top, BLOCK: tl.constexpr):
    """Logits (R, C) and the highest (R,) -> where it is and the others' powers, (R, C) each; four
    facts of rows (R,).

    They are the sum of those powers; the log of what the others are to the highest; the factor from
    that sum to that, 1 but where they would vanish; and 0 where there are no others, 1 elsewhere.
    """
    # 1 at the highest and 0 elsewhere, as numbers: products with them cost less than choices
    is_top = tl.where(s == top[:, None], 1.0, 0.0)
    power = exp2(s * LOG2E - (top * LOG2E)[:, None])
    rivals = power - power * is_top
    ties, sums = tl.sum(is_top, axis=1), tl.sum(rivals, axis=1)
    logs, scale, rivalled = log2(sums), tl.zeros_like(sums) + 1.0, tl.zeros_like(sums) + 1.0
    # of equals the first is the highest: looking for it costs more than asking whether there are
    # any
    if tl.max(((ties > 1) | (sums < 1e-30)).to(tl.int32), axis=0) > 0:
        first = tl.min(tl.where(is_top > 0, _columns(BLOCK)[None, :], BLOCK), axis=1)
        is_top = tl.where(_is_label(first, BLOCK), 1.0, 0.0)
        rivals = power - power * is_top
        sums = tl.sum(rivals, axis=1)
        logs = log2(sums)
        if tl.min(sums, axis=0) < 1e-30:  # the others have to count from their own highest
            below = tl.where(is_top > 0, NOTHING, s)
            second = tl.max(below, axis=1)
            rivalled = tl.where(second == NOTHING, 0.0, 1.0)
            rivals = tl.where(is_top > 0, 0.0, exp(below - second[:, None])) * rivalled[:, None]
            sums = tl.where(rivalled > 0, tl.sum(rivals, axis=1), 1.0)
            logs, scale = (
                (second - top) * LOG2E * rivalled + log2(sums),
                exp(second - top) * rivalled,
            )
    return is_top, rivals, sums, logs, scale, rivalled


@triton.jit
def _times(a, b):
    return a * b


@triton.jit
def softmax_rows(
    row_count, label_count, origin, logits, logit_stride, target, target_stride, ids, offsets, soft,
    background,
    mask, mask_stride, off_ids, off_offsets, positive, positive_row, positive_label,
    negative, negative_row, negative_label, a, b, c, upstream, scale, values, logs, gradient,
    FORM: tl.constexpr, FOCAL: tl.constexpr, TOTAL: tl.constexpr, HARD: tl.constexpr, ONE:
    tl.constexpr,
    EVEN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """ROWS rows: values and gradient, each where there is one, times `scale` and upstream[row].

    `a` is gamma, `b` what the positive term is scaled by. FORM says whether only the highest label
    has a negative term. With TOTAL the values are one for the program: the sum of its rows. EVEN:
    the tiles fill the matrix. HARD: labels are gold or not, by `ids` alone, and nothing is masked,
    weighted or focal. ONE: see `_listed`.
    """
    start = tl.program_id(0) * ROWS
    left = row_count - start, label_count
    rows = tl.arange(0, ROWS)
    valid = rows < left[0]
    if ids is not None:
        listed = _listed(ids, offsets, start, left[0], ONE, ROWS)
    s = _cut(logits, start, logit_stride, 1, left, EVEN, ROWS, BLOCK)
    # zeros that Triton takes for numbers made of the logits: so it spreads them over the threads as
    # it does those
    nothing = ((s.to(tl.int32, bitcast=True) & 1) >> 1).to(tl.float32)
    truth = nothing
    if target is not None:
        truth = _cut(target, start, target_stride, 1, left, EVEN, ROWS, BLOCK)
    inside = valid[:, None] & (_columns(BLOCK) < label_count)[None, :]
    part = inside
    if mask is not None:
        part &= _cut(mask, start, mask_stride, 1, left, EVEN, ROWS, BLOCK) != 0
    if off_ids is not None:
        offs = _listed(off_ids, off_offsets, start, left[0], False, ROWS)
        part &= _marked(nothing, off_ids, None, offs, False, BLOCK) == 0
    if (mask is not None) or (off_ids is not None) or (not EVEN):
        # a label of this logit has the chance 0, and no term of others
        s = tl.where(part, s, NOTHING)
    top = tl.max(s, axis=1)
    is_top, rivals, sums, log_others, risen, rivalled = _rivals(s, top, BLOCK)

    if not HARD:
        truth += background
    if ids is not None:
        truth = _marked(truth, ids, soft, listed, ONE, BLOCK)
    if (mask is not None) or (
        off_ids is not None
    ):  # the mass that is left takes up what the masked labels had
        whole_mass = tl.sum(tl.where(inside, truth, 0.0), axis=1)
        kept_mass = tl.sum(tl.where(part, truth, 0.0), axis=1)
        truth = tl.minimum(truth * (whole_mass / tl.maximum(kept_mass, 1e-19))[:, None], 1.0)
    if (mask is not None) or (off_ids is not None) or (not EVEN):
        truth = tl.where(part, truth, 0.0)
    others = sums * risen
    inverse = reciprocal(1.0 + others)
    log_whole = tl.where(others < 1.0, log1p(others) * LOG2E, log2(1.0 + others))
    rest_of_top, chance = log_others - log_whole, risen * inverse
    factor = tl.full((ROWS,), 0.0, tl.float32) + scale
    if upstream is not None:
        factor *= tl.load(upstream + start + rows, mask=valid, other=0.0).to(tl.float32)
    if HARD:
        of_top = 1.0 - tl.sum(is_top * truth, axis=1)
        count = listed[1].to(tl.float32)
        value = b * ((tl.sum(truth * s, axis=1) - count * top) * LOG2E - count * log_whole)
        slope = (-b * factor)[:, None] * truth
        # one log of a product: all p are at most 1 together, and each 1/2, so it stays above 1/4
        if not FORM:
            rivals_too = rivals - rivals * truth
            rest = 1.0 - rivals_too * chance[:, None]
            slope += rivals_too * (chance * factor)[:, None] * reciprocal(rest)
            value += log2(tl.reduce(rest, 1, _times))
    else:
        log_chance = (s - top[:, None]) * LOG2E - log_whole[:, None]
        rival_chance = rivals * chance[:, None]
        log_rest = log2_less(rival_chance)
        # 0 at the highest label, as is log_rest
        odds = rival_chance * reciprocal(1.0 - rival_chance)
        of_gold = (
            b * truth * _cut(positive, start, positive_row, positive_label, left, EVEN, ROWS, BLOCK)
        )
        of_other = (1.0 - truth) * _cut(
            negative, start, negative_row, negative_label, left, EVEN, ROWS, BLOCK
        )
        if FORM:
            of_other *= is_top
        if (mask is not None) or (
            off_ids is not None
        ):  # of a row that is masked as a whole, one is the highest
            of_other = tl.where(part, of_other, 0.0)
        if FOCAL:
            of_other *= exp2(a * log_chance)
            tilt = log_chance * LN2 * odds  # log p * p / (1 - p), which is -1 where p is 1
            near = tl.where(
                others > 1e-6, -log_whole * LN2 / tl.where(others > 1e-6, others, 1.0), -1.0
            )
            tilt += is_top * near[:, None]
            whole_rest = log_rest + is_top * rest_of_top[:, None]
            of_gold *= exp2(a * whole_rest)
            slope = -of_gold * (1.0 - a * tilt) - of_other * (a * LN2) * whole_rest
        else:
            slope = -of_gold
        of_top = tl.sum(of_other * is_top, axis=1)
        value = tl.sum(of_gold * log_chance, axis=1)
        if not FORM:
            value += tl.sum(of_other * log_rest, axis=1)
            slope += of_other * odds
        slope *= factor[:, None]
    of_top *= rivalled
    pulled = of_top * inverse * factor
    # the highest label's own slope may be huge, and 1 - p of it is left: in the sum that would be
    # lost
    if FOCAL:
        own = slope * is_top
        pulled += others * inverse * tl.sum(own, axis=1)
        slope -= own
    if values is not None:
        value = (value + of_top * rest_of_top) * (-LN2 * factor)
        value += value * 0.0  # of an infinite logit: no number
        if TOTAL:
            tl.store(
                values + tl.program_id(0),
                tl.sum(value if EVEN else tl.where(valid, value, 0.0), axis=0),
            )
        else:
            tl.store(values + start + rows, value, mask=valid)
    if gradient is not None:
        drawn = inverse * tl.sum(slope, axis=1)
        slope -= rivals * (risen * drawn + pulled * reciprocal(sums))[:, None]
        slope += is_top * (pulled - drawn)[:, None]
        _put(gradient, start, slope, left, EVEN, ROWS, BLOCK)
