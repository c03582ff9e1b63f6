"""Standard weights of BAT: a gold label weighs the share of texts without it, as another the share
of those with it.
"""

import numpy as np

from tagwright.arrays import Ints
from tagwright.weights import weights
from tagwright.weights.label_weights import LabelWeights


@weights()
def standard(label_counts: Ints, row_count: int, *, positive_scale: float = 1.0) -> LabelWeights:
    """Positive (N - n) / N, times `positive_scale` (the paper's lambda), and negative n / N, each
    (L,).

    >>> standard(np.array([1, 3]), 4).positive
    array([0.75, 0.25])
    """
    share = np.asarray(label_counts, np.float64) / max(row_count, 1)
    return LabelWeights(positive=positive_scale * (1 - share), negative=share)


PART = standard
