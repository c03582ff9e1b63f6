"""Hard targets: 1 where a label stands, or the value given beside it."""

import numpy as np
import pyarrow as pa

from tagwright.labels.space import LabelSpace
from tagwright.targets.hard import hard

SPACE = LabelSpace(names=("a", "b", "c", "d"), counts=(1, 1, 1, 1))


def table(labels: list, values: list | None = None) -> pa.Table:
    columns = {"labels": pa.array(labels, pa.list_(pa.string()))}
    if values is not None:
        columns["values"] = pa.array(values, pa.list_(pa.float64()))
    return pa.table(columns)


def reference(labels: list, values: list | None = None) -> list[list[float]]:
    rows = []
    for number, names in enumerate(labels):
        row = [0.0] * len(SPACE)
        for place, name in enumerate(names or []):
            if name in SPACE.names:
                row[SPACE.names.index(name)] = 1.0 if values is None else values[number][place]
        rows.append(row)
    return rows


def test_labels_become_multi_hot_rows():
    labels = [["b", "a"], [], ["d"], ["a", "b", "c", "d"], ["c"]]
    target = hard(table(labels), SPACE)
    assert target.dtype == np.float32
    np.testing.assert_array_equal(target.toarray(), reference(labels))


def test_given_values_stand_at_their_label():
    labels = [["b", "a"], [], ["d"], ["c", "a"]]
    values = [[0.25, 0.75], [], [0.5], [1.0, 0.125]]
    target = hard(table(labels, values), SPACE)
    assert target.dtype == np.float32
    np.testing.assert_array_equal(target.toarray(), reference(labels, values))


def test_labels_outside_the_space_are_left_out():
    labels, values = [["z", "b"], ["y"], ["c", "x"]], [[0.5, 0.25], [1.0], [0.75, 0.125]]
    np.testing.assert_array_equal(hard(table(labels), SPACE).toarray(), reference(labels))
    np.testing.assert_array_equal(
        hard(table(labels, values), SPACE).toarray(), reference(labels, values)
    )


def test_unlabelled_rows_are_empty():
    labels, values = [["a"], None, ["b"]], [[0.5], None, [0.25]]
    np.testing.assert_array_equal(hard(table(labels), SPACE).toarray(), reference(labels))
    np.testing.assert_array_equal(
        hard(table(labels, values), SPACE).toarray(), reference(labels, values)
    )


def test_label_named_twice_counts_once():
    np.testing.assert_array_equal(hard(table([["a", "a"]]), SPACE).toarray(), [[1, 0, 0, 0]])


def test_soft_label_named_twice_stays_a_probability():
    target = hard(table([["a", "a", "b"]], [[0.75, 0.75, 0.5]]), SPACE).toarray()
    np.testing.assert_array_equal(target, [[0.75, 0.5, 0, 0]])


def test_parts_of_a_table_give_the_rows_of_the_whole():
    labels, values = [["b", "a"], [], ["d"], ["c"]], [[0.25, 0.75], [], [0.5], [1.0]]
    for whole in (table(labels), table(labels, values)):
        chunked = pa.concat_tables([whole[:1], whole[1:]])
        np.testing.assert_array_equal(hard(chunked, SPACE).toarray(), hard(whole, SPACE).toarray())
        np.testing.assert_array_equal(
            hard(chunked[2:], SPACE).toarray(), hard(whole, SPACE).toarray()[2:]
        )


def test_no_rows_give_no_targets():
    assert hard(table([]), SPACE).shape == (0, 4)
    assert hard(table([], []), SPACE).shape == (0, 4)
