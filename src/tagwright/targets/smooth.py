"""LS-Classic: a part of every label's truth is spread evenly (Szegedy 2016,
arxiv.org/abs/1512.00567).
"""

import numpy as np
import pyarrow as pa

from tagwright.arrays import Floats
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.targets.hard import hard


def smooth(table: pa.Table, space: LabelSpace, *, epsilon: float = 0.1) -> Floats:
    """Targets (n, L), float32: (1 - epsilon) * y + epsilon / L where a text has exactly one label.

    Where it may have many, every label is a choice of two: (1 - epsilon) * y + epsilon / 2 (label
    smoothing of ZLPR).
    """
    if not 0 <= epsilon <= 1:
        raise SettingsError(f"smooth.epsilon must be from 0 to 1, got {epsilon}")
    given = hard(table, space).toarray().astype(np.float64)
    return ((1 - epsilon) * given + epsilon / (len(space) if space.exclusive else 2)).astype(
        np.float32
    )


PART = smooth
