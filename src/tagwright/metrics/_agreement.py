"""Precision, recall, F1 and F2 from counts of hits, wrong choices and misses, of labels or of rows
alike.
"""

import numpy as np

MEASURES = ("precision", "recall", "f1", "f2")


def agreement(
    hits: np.ndarray, wrong: np.ndarray, missed: np.ndarray, *, empty: float
) -> dict[str, np.ndarray]:
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


def ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """top / bottom in float64, 0 where bottom is 0."""
    return np.divide(top, bottom, out=np.zeros(np.shape(bottom)), where=np.not_equal(bottom, 0))
