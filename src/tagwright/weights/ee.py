"""EE weights, eq. 8 of BAT: a gold label weighs N over those that have it, as another N over those
that have it not.
"""

import numpy as np

from tagwright.arrays import Ints
from tagwright.weights import weights
from tagwright.weights.label_weights import LabelWeights


@weights()
def ee(label_counts: Ints, row_count: int, *, positive_scale: float = 1.0) -> LabelWeights:
    """Positive N / n, times `positive_scale` (the paper's lambda), and negative N / (N - n), each
    (L,).

    N is the number of texts (of tokens where tokens are tagged); a label that none or all have
    counts as one short.

    >>> ee(np.array([1, 3]), 4).negative
    array([1.33333333, 4.        ])
    """
    counts = np.clip(np.asarray(label_counts, np.float64), 1, max(row_count - 1, 1))
    rest = np.maximum(row_count - counts, 1)
    return LabelWeights(positive=positive_scale * row_count / counts, negative=row_count / rest)


PART = ee
