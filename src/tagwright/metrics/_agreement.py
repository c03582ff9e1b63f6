"""Precision, recall, F1 and F2 from counts of hits, wrong choices and misses, of labels or of rows
alike.
"""

from typing import TypedDict

import numpy as np

from tagwright.arrays import Floats, Int, Ints, Numbers

MEASURES = ("precision", "recall", "f1", "f2")


class Scores(TypedDict):
    """Arrays of one shape; `support` is how many are true, `predicted` how many are chosen."""

    precision: Floats
    recall: Floats
    f1: Floats
    f2: Floats
    support: Ints
    predicted: Ints


def agreement(
    hits: Ints | Int, wrong: Ints | Int, missed: Ints | Int, *, empty: float
) -> dict[str, Floats]:
    """Each of `MEASURES` for counts of any one shape; 0/0 is 0, as scikit-learn's
    `zero_division=0`.

    Where all three counts are 0, nothing was there and nothing was chosen, every measure is
    `empty`.

    >>> agreement(np.array([1, 0]), np.array([1, 0]), np.array([0, 0]), empty=1.0)["precision"]
    array([0.5, 1. ])
    """
    unused = (hits + wrong + missed) == 0
    # F of weight b: (1 + b²) hits over (1 + b²) hits + wrong + b² missed
    f2_parts = 5 * hits + wrong + 4 * missed
    values = {
        "precision": ratio(hits, hits + wrong),
        "recall": ratio(hits, hits + missed),
        "f1": ratio(2 * hits, 2 * hits + wrong + missed),
        "f2": ratio(5 * hits, f2_parts),
    }
    return {name: np.where(unused, empty, value) for name, value in values.items()}


def scores_of(hits: Ints, wrong: Ints, missed: Ints, *, empty: float) -> Scores:
    """`agreement`, with the counts of what is true and of what is chosen."""
    found = agreement(hits, wrong, missed, empty=empty)
    return Scores(
        precision=found["precision"],
        recall=found["recall"],
        f1=found["f1"],
        f2=found["f2"],
        support=hits + missed,
        predicted=hits + wrong,
    )


def ratio(top: Numbers | Int, bottom: Numbers | Int) -> Floats:
    """top / bottom in float64, 0 where bottom is 0."""
    return np.divide(top, bottom, out=np.zeros(np.shape(bottom)), where=np.not_equal(bottom, 0))
