"""Columns of lists: where each row's values begin."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Ints


def offsets_of(lists: pa.ListArray) -> Ints:
    """Where each row's values begin in `flatten()`, (n + 1,); null rows are empty.

    >>> offsets_of(pa.array([["a", "b"], None, ["c"]]))
    array([0, 2, 2, 3])
    """
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
