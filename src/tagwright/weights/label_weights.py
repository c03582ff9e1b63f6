"""What a weights part gives: factors of the gold and of the other terms."""

from typing import NamedTuple

from tagwright.arrays import Floats


class LabelWeights(NamedTuple):
    """Factors (L,) of a label's gold and of its other term, None for 1.

    `of_gold` (L,) is for exclusive labels: every other term of a text weighs what its gold label
    says.
    """

    positive: Floats | None = None
    negative: Floats | None = None
    of_gold: Floats | None = None
