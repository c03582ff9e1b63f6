"""The labels as given: 1 where a label stands, or the value given beside it."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright.labels.space import LabelSpace


def hard(table: pa.Table, space: LabelSpace) -> csr_array:
    """Targets (n, L), sparse float32; a column `values` makes them soft (of a repeated label the
    first).
    """
    if "values" not in table.column_names:
        return space.encode(table["labels"]).matrix(len(space))
    lists = table["labels"].combine_chunks()
    names = pc.list_flatten(lists)
    rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    values = pc.list_flatten(table["values"].combine_chunks()).to_numpy(zero_copy_only=False)
    ids = pc.index_in(names, value_set=pa.array(space.names, names.type)).to_numpy(
        zero_copy_only=False
    )
    known = ~np.isnan(ids.astype(np.float64))
    keys, first = np.unique(
        rows[known].astype(np.int64) * len(space) + ids[known].astype(np.int64), return_index=True
    )
    cells = (values[known][first].astype(np.float32), np.divmod(keys, len(space)))
    return csr_array(cells, shape=(table.num_rows, len(space)), dtype=np.float32)


PART = hard
