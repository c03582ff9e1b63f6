"""The labels of every row in the order of their scores, ties kept together: O(L log L) a row, no
L×L.
"""

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Bools, Floats, Ints


class Ranked(NamedTuple):
    """Rows sorted by descending score; all (n, L). Labels of equal score share `starts`, `ends` and
    `hits`.
    """

    truth: Bools  # bool: is the label at this place true?
    starts: Ints  # how many labels score strictly higher
    ends: Ints  # how many labels score at least as high: the worst rank of the tie
    hits: Ints  # how many true labels score at least as high


def rank_rows(scores: Floats, truth: Bools) -> Ranked:
    """Sort every row of scores (n, L), n > 0, with its truth."""
    order = np.argsort(-scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    true = np.take_along_axis(truth, order, axis=1)
    places = np.arange(scores.shape[1], dtype=np.int32)
    edge = np.ones((len(scores), 1), bool)
    steps = ordered[:, 1:] != ordered[:, :-1]
    starts = np.maximum.accumulate(np.where(np.hstack([edge, steps]), places, 0), axis=1)
    lasts = np.where(np.hstack([steps, edge]), places, len(places) - 1)[:, ::-1]
    lasts = np.minimum.accumulate(lasts, axis=1)[:, ::-1]
    hits = np.take_along_axis(np.cumsum(true, axis=1, dtype=np.int32), lasts, axis=1)
    return Ranked(true, starts, lasts + 1, hits)


def tie_averaged(ranked: Ranked, count: int) -> Floats:
    """The chance that each of the first `count` places holds a true label, ties in random order;
    (n, count).
    """
    starts, ends, hits = (part[:, :count] for part in (ranked.starts, ranked.ends, ranked.hits))
    before = np.where(
        starts > 0, np.take_along_axis(ranked.hits, np.maximum(starts - 1, 0), axis=1), 0
    )
    return (hits - before) / (ends - starts)
