"""How often becomes how much: saturation and inverse frequency, KWLS eqs. 1, 2, 4, 5 (Liu 2022),
and plain TF-IDF.
"""

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats, Ints, Numbers


class Weighting(NamedTuple):
    """`k1` and `k2` bound what many occurrences count for in a label and in a text; infinity sets
    no bound.

    `b` (0 to 1) says how far the size of a label counts, `base` what is added to the logarithm of
    an inverse frequency.
    """

    k1: float
    b: float
    k2: float
    base: float

    def norm(self, label_words: Ints, mean: float | Floats) -> Floats:
        """K / k1 of eq. 1, from the words of labels and their mean; where there are no words at
        all, 1 - b.
        """
        share = np.divide(
            label_words, mean, out=np.zeros(np.broadcast(label_words, mean).shape), where=mean > 0
        )
        return 1 - self.b + self.b * share

    def inverse(self, total: float, count: Numbers) -> Floats:
        """WLW and WIW, eqs. 2 and 5: log(total / count) + base; what never occurs weighs
        nothing.
        """
        some = count > 0
        return np.where(some, np.log(max(total, 1) / np.where(some, count, 1)) + self.base, 0.0)


def saturated(count: Ints, k: float, norm: float | Floats = 1.0) -> Floats:
    """WLC and WIC, eqs. 1 and 4: count * k / (count + k * norm), in a form that takes k = infinity;
    0 for no count.
    """
    return np.divide(count, count / k + norm, out=np.zeros(len(count)), where=count > 0)
