"""Which table is learnt from."""

import pyarrow as pa
import pytest

from tagwright.read.data import Data


@pytest.mark.parametrize(
    ("names", "first"), [(("train", "dev"), "train"), (("all",), "all"), (("dev", "train"), "train")]
)
def test_the_first_table_is_train_or_all(names, first):
    tables = {name: pa.table({"text": [name]}) for name in names}
    assert Data(tables=tables, task="many", source="here").first["text"].to_pylist() == [first]
