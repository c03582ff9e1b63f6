"""What the row kernels share: which cells of a row take part, and what they weigh.

A row's cells come as one tuple, for every kernel hands them on: (row, origin, label_count, logits,
zero, target, background, mask, positive, negative, golds, offs). Its labels are `origin` and the
`label_count - 1` after it; its logits are measured from `zero`. Target and mask are (pointer, row
stride), a weight is (pointer, row stride, label stride). `golds` is (ids, begin, end, soft), the
listed cells of a sparse target; `offs` is (ids, begin, end), cells that take no part. Any pointer
may be None.
"""

import triton
import triton.language as tl

BEYOND = tl.constexpr(2**31 - 1)  # greater than every label
# a logit that counts nothing among the others: finite, for 0 * inf is no number; a power of 2, for
# a row of nothing else measures it from itself in a fused product and sum, where only what is not
# rounded leaves 0
NOTHING = tl.constexpr(-(2.0**100))


@triton.jit
def bounds(ids, offsets, row):
    """Where a row's list begins and ends."""
    if ids is None:
        return 0, 0
    else:
        return tl.load(offsets + row).to(tl.int32), tl.load(offsets + row + 1).to(tl.int32)


@triton.jit
def weight_of(weight, row, labels, inside):
    """Weights of a row's labels, 1 where there are none."""
    pointer, row_stride, label_stride = weight
    if pointer is None:
        return 1.0
    else:
        return tl.load(
            pointer + row * row_stride + labels * label_stride, mask=inside, other=0.0
        ).to(tl.float32)


@triton.jit
def next_listed(ids, begin, end, last, WINDOW: tl.constexpr):
    """The smallest id above `last` among ids[begin:end], or BEYOND: a walk in order through a list
    that has none.
    """
    best = tl.full((WINDOW,), BEYOND, tl.int32)
    for start in range(begin, end, WINDOW):
        place = start + tl.arange(0, WINDOW)
        found = tl.load(ids + place, mask=place < end, other=-1).to(tl.int32)
        best = tl.minimum(best, tl.where(found > last, found, BEYOND))
    return tl.min(best, axis=0)


@triton.jit
def first_listed(cells, WINDOW: tl.constexpr):
    """The first gold and the first left-out label, from which `block_of` walks on."""
    origin, golds, offs = cells[1], cells[10], cells[11]
    gold, off = BEYOND, BEYOND
    if golds[0] is not None:
        gold = next_listed(golds[0], golds[1], golds[2], origin - 1, WINDOW)
    if offs[0] is not None:
        off = next_listed(offs[0], offs[1], offs[2], origin - 1, WINDOW)
    return gold, off


@triton.jit
def logits_at(cells, start, KEEP: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    """The logits of columns `start` and after, as they are; asked for one block ahead, so that none
    has to wait.

    KEEP says which lines the cache should give up last ("evict_last") or first.
    """
    columns = start + tl.arange(0, BLOCK)
    if EVEN:
        return tl.load(cells[3] + columns, mask=start < cells[2], other=0.0, eviction_policy=KEEP)
    else:
        return tl.load(cells[3] + columns, mask=columns < cells[2], other=0.0, eviction_policy=KEEP)


@triton.jit
def block_of(
    cells, raw, start, gold, off,
    WALK: tl.constexpr, SOFT: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr, WINDOW:
    tl.constexpr,
):  # fmt: skip
    """Columns `start` and after -> (columns, inside, logits, gold weights, other weights), and the
    walk's state.

    `raw` are their logits as they are. With WALK, listed cells are made to count nothing: their
    logit is NOTHING, or, with SOFT, they have no weights. Without SOFT no other cell is gold. EVEN:
    the columns end with a block.
    """
    row, origin, label_count, _, zero, target, background, mask, positive, negative, golds, offs = (
        cells
    )
    columns = start + tl.arange(0, BLOCK)
    labels, inside = origin + columns, columns < label_count
    s = raw.to(tl.float32)
    if not EVEN:
        s = tl.where(inside, s, NOTHING)
    if zero is not None:
        s -= zero
    of_gold, of_other = 0.0, weight_of(negative, row, labels, inside)
    if SOFT:
        truth = tl.full((BLOCK,), 0.0, tl.float32) + background
        if target[0] is not None:
            truth = tl.load(target[0] + row * target[1] + columns, mask=inside, other=0.0).to(
                tl.float32
            )
        of_gold = tl.where(inside, weight_of(positive, row, labels, inside) * truth, 0.0)
        of_other = tl.where(inside, of_other * (1.0 - truth), 0.0)
    if mask[0] is not None:
        part = tl.load(mask[0] + row * mask[1] + columns, mask=inside, other=0) != 0
        s, of_gold, of_other = _left_out(part == 0, s, of_gold, of_other, SOFT)
    if WALK and golds[0] is not None:
        while gold < origin + start + BLOCK:
            s, of_gold, of_other = _left_out(labels == gold, s, of_gold, of_other, SOFT)
            gold = next_listed(golds[0], golds[1], golds[2], gold, WINDOW)
    if WALK and offs[0] is not None:
        while off < origin + start + BLOCK:
            s, of_gold, of_other = _left_out(labels == off, s, of_gold, of_other, SOFT)
            off = next_listed(offs[0], offs[1], offs[2], off, WINDOW)
    return columns, inside, s, of_gold, of_other, gold, off


@triton.jit
def _left_out(which, s, of_gold, of_other, SOFT: tl.constexpr):
    if SOFT:
        return (
            tl.where(which, 0.0, s),
            tl.where(which, 0.0, of_gold),
            tl.where(which, 0.0, of_other),
        )
    else:
        return tl.where(which, NOTHING, s), of_gold, of_other


@triton.jit
def listed_at(cells, start, WINDOW: tl.constexpr):
    """Some of the row's listed cells -> (columns, part, logits, gold weights, other weights)."""
    row, origin, label_count, logits, zero, _, _, mask, positive, negative, golds, offs = cells
    place = start + tl.arange(0, WINDOW)
    labels = tl.load(golds[0] + place, mask=place < golds[2], other=-1).to(tl.int32)
    columns = labels - origin
    part = (labels >= origin) & (columns < label_count)
    if offs[0] is not None:
        for one in range(offs[1], offs[2]):
            part &= labels != tl.load(offs[0] + one).to(tl.int32)
    if mask[0] is not None:
        part &= tl.load(mask[0] + row * mask[1] + columns, mask=part, other=0) != 0
    s = tl.load(logits + columns, mask=part, other=0.0).to(tl.float32)
    if zero is not None:
        s -= zero
    of_gold, of_other = (
        weight_of(positive, row, labels, part),
        weight_of(negative, row, labels, part),
    )
    if golds[3] is None:
        of_other *= 0.0
    else:
        truth = tl.load(golds[3] + place, mask=part, other=0.0).to(tl.float32)
        of_gold *= truth
        of_other *= 1.0 - truth
    return columns, part, s, of_gold, of_other
