"""LS-Classic: a part of the truth spread evenly."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.targets.smooth import smooth

NAMES = ("a", "b", "c")
ONE = LabelSpace(names=NAMES, counts=(1, 1, 1), exclusive=True)
MANY = LabelSpace(names=NAMES, counts=(1, 1, 1))


def table(labels: list, values: list | None = None) -> pa.Table:
    columns = {"labels": pa.array(labels, pa.list_(pa.string()))}
    if values is not None:
        columns["values"] = pa.array(values, pa.list_(pa.float64()))
    return pa.table(columns)


def test_one_label_a_text_shares_epsilon_among_all_labels():
    target = smooth(table([["a"], ["c"]]), ONE, epsilon=0.3)
    assert target.dtype == np.float32
    np.testing.assert_allclose(target, [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(
        smooth(table([["a"]]), ONE), [[0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3]], rtol=1e-6
    )


def test_many_labels_go_halfway_to_undecided_each():
    target = smooth(table([["a", "c"], []]), MANY, epsilon=0.2)
    np.testing.assert_allclose(target, [[0.9, 0.1, 0.9], [0.1, 0.1, 0.1]], rtol=1e-6)


def test_given_values_are_smoothed_too():
    target = smooth(table([["a", "b"]], [[0.5, 0.25]]), MANY, epsilon=0.2)
    np.testing.assert_allclose(target, [[0.5, 0.3, 0.1]], rtol=1e-6)


def test_no_epsilon_leaves_the_labels_as_given():
    np.testing.assert_array_equal(
        smooth(table([["b"], ["z"]]), ONE, epsilon=0.0), [[0, 1, 0], [0, 0, 0]]
    )


def test_all_epsilon_knows_nothing():
    np.testing.assert_allclose(smooth(table([["b"]]), ONE, epsilon=1.0), [[1 / 3] * 3], rtol=1e-6)


def test_no_rows_give_no_targets():
    assert smooth(table([]), ONE).shape == (0, 3)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_epsilon_outside_its_range_is_refused(epsilon: float):
    with pytest.raises(SettingsError, match=r"smooth\.epsilon must be from 0 to 1"):
        smooth(table([["a"]]), ONE, epsilon=epsilon)
