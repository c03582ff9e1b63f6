"""What a weights part gives: factors of the gold and of the other terms."""

from typing import NamedTuple

import numpy as np


class LabelWeights(NamedTuple):
    """Factors (L,) of a label's gold and of its other term, None for 1.

    `of_gold` (L,) is for exclusive labels: every other term of a text weighs what its gold label
    says.
    """

    positive: np.ndarray | None = None
    negative: np.ndarray | None = None
    of_gold: np.ndarray | None = None
