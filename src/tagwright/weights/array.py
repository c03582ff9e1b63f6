"""The array A of BAT (CECLA): a text weighs by how rare its gold label is; for labels that exclude
each other.
"""

import numpy as np

from tagwright.arrays import Ints
from tagwright.weights import weights
from tagwright.weights.label_weights import LabelWeights


@weights(exclusive=True)
def array(label_counts: Ints, row_count: int, *, positive_scale: float = 1.0) -> LabelWeights:
    """Gold label g: N / n_g, times `positive_scale` (the paper's lambda); every other label: N /
    ((L - 1) n_g).

    The matrix A is never written down: its column g has these two values only.

    >>> array(np.array([1, 3]), 4).of_gold
    array([4.        , 1.33333333])
    """
    rare = row_count / np.maximum(np.asarray(label_counts, np.float64), 1)
    return LabelWeights(positive=positive_scale * rare, of_gold=rare / max(len(rare) - 1, 1))


PART = array
