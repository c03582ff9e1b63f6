"""Cuts of all labels together: as high a macro-F1 plus `weight` times micro-F1 as changing one cut
at a time can reach.

A label's best F1 may take ten wrong choices for one right one; alone that looks good, and adds up
to a poor micro-F1. Label after label gets the cut that is best while the others stay (cyclic, as
Fan and Lin 2007), until none moves.
"""

import numpy as np

from tagwright.arrays import Bools, Floats, Ints, Numbers

PASSES = 10  # far more than it takes: two or three


def joint_cuts(scores: Floats, truth: Bools, *, weight: float) -> Floats:
    """Logits (n, L) and truth (n, L), bool -> cuts (L,), half way to the next lower score.

    A label may choose no text at all, and one without positives does: its cut is its highest score.
    """
    # labels as rows: each sort and sum runs over contiguous memory
    order = np.argsort(-scores.T, axis=1)
    ranked = np.take_along_axis(scores.T, order, axis=1).astype(np.float64)
    hits = np.cumsum(np.take_along_axis(truth.T, order, axis=1), axis=1)
    # (L, n + 1): of the first k texts
    hits = np.concatenate([np.zeros((len(hits), 1)), hits], axis=1)
    cells = np.arange(hits.shape[1]) + hits[:, -1:]  # chosen and true
    allowed = np.ones(hits.shape, bool)
    allowed[:, 1:-1] = ranked[:, :-1] != ranked[:, 1:]  # equal scores cannot be parted
    best = _cycled(hits, cells, allowed, weight)
    upper = np.concatenate([ranked[:, :1], ranked], axis=1)
    lower = np.concatenate([ranked, np.full((len(ranked), 1), -np.inf)], axis=1)
    rows = np.arange(len(best))
    high, low = upper[rows, best], lower[rows, best]  # nothing chosen: both are the highest score
    return np.where(np.isinf(low), np.nextafter(high, -np.inf), (high + low) / 2)


def _cycled(hits: Numbers, cells: Numbers, allowed: Bools, weight: float) -> Ints:
    """How many texts each label chooses, (L,), from its best F1 on."""
    seen = max(int(np.count_nonzero(hits[:, -1])), 1)
    own = np.where(allowed, 2 * hits / np.maximum(cells, 1) / seen, -np.inf)
    best, rows = own.argmax(axis=1), np.arange(len(own))
    hit, counted = hits[rows, best].sum(), cells[rows, best].sum()
    for _ in range(PASSES):
        moved = False
        for label, before in enumerate(best.tolist()):
            others_hit, others = hit - hits[label, before], counted - cells[label, before]
            micro = 2 * (others_hit + hits[label]) / np.maximum(others + cells[label], 1)
            after = int((own[label] + weight * micro).argmax())
            if after != before:
                best[label], moved = after, True
                hit, counted = others_hit + hits[label, after], others + cells[label, after]
        if not moved:
            break
    return best
