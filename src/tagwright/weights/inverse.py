"""Weight of a gold label: one over its share in train, scaled so that the average assignment weighs
1.
"""

import numpy as np

from tagwright.arrays import Ints
from tagwright.weights import weights
from tagwright.weights.label_weights import LabelWeights


@weights()
def inverse(label_counts: Ints, *, power: float = 1.0) -> LabelWeights:
    """Positive weight (L,) proportional to count^-power; `power=0.5` softens it.

    The mean over all assignments of train is 1, so that the scale of the loss stays.

    >>> inverse(np.array([1, 3])).positive
    array([2.        , 0.66666667])
    """
    counts = np.asarray(label_counts, np.float64)
    weight = np.maximum(counts, 1) ** -power
    return LabelWeights(positive=weight * counts.sum() / (weight * counts).sum())


PART = inverse
