"""Which table is learnt from."""

import pyarrow as pa
import pytest

from tagwright.data.dataset import Data, Size


@pytest.mark.parametrize(
    ("names", "first"),
    [(("train", "dev"), "train"), (("all",), "all"), (("dev", "train"), "train")],
)
def test_the_first_table_is_train_or_all(names, first):
    tables = {name: pa.table({"text": [name]}) for name in names}
    assert Data(tables=tables, task="many", source="here").first["text"].to_pylist() == [first]


def test_the_size_counts_rows_and_different_labels_of_what_is_learnt_from():
    train = pa.table({"text": ["a", "b", "c"], "labels": [["x", "y"], ["x"], []]})
    more = pa.table({"text": ["d"], "labels": [["z"]]})
    assert Data(tables={"train": train, "dev": more}, task="many", source="here").size == Size(
        rows=3, labels=2
    )
    tagged = pa.table({"text": ["a"], "tokens": [["a"]], "tags": [["O"]]})
    assert Data(tables={"all": tagged}, task="tokens", source="here").size == Size(rows=1, labels=0)
