"""From relevance to soft labels."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.targets._soft import soft_labels, softmax
from tagwright.targets.weighting import Weighting

from .reference import relevance, tokens_of
from .reference import softmax as plain_softmax

KWLS = Weighting(2.0, 0.75, 2.0, 1.0)
TEXTS = [[2, 3, 2], [4, 3], [4, 5, 1]]


def table(labels: list, **columns: list) -> pa.Table:
    given = {name: pa.array(values, pa.list_(pa.float64())) for name, values in columns.items()}
    return pa.table({"labels": pa.array(labels, pa.list_(pa.string())), **given})


def soft(
    labels: list, normalize: str = "auto", *, exclusive: bool = True, **columns: list
) -> np.ndarray:
    space = LabelSpace(names=("a", "b"), counts=(1, 1), exclusive=exclusive)
    given = table(labels, **columns)
    return soft_labels(
        given, space, tokens_of(TEXTS), KWLS, leave_one_out=False, normalize=normalize
    )  # type: ignore[arg-type]


def test_softmax_of_huge_relevances_is_finite():
    assert softmax(np.array([[1e9, 1e9 - 1, -1e9]])).tolist() == [
        pytest.approx([0.7310585786, 0.2689414214, 0])
    ]


def test_ties_share_alike():
    assert softmax(np.full((2, 4), 700.0)).tolist() == [[0.25] * 4] * 2


def test_one_label_a_text_is_normalized_by_softmax_many_by_sigmoid():
    labels = [["a"], ["b"], ["b"]]
    expected = relevance(TEXTS, TEXTS, [[0], [1], [1]], 2, *KWLS)
    rows = [plain_softmax(row) for row in expected]
    np.testing.assert_allclose(soft(labels), rows, rtol=1e-6)
    np.testing.assert_allclose(soft(labels, "softmax", exclusive=False), rows, rtol=1e-6)
    cells = 1 / (1 + np.exp(-np.array(expected)))
    np.testing.assert_allclose(soft(labels, exclusive=False), cells, rtol=1e-6)
    np.testing.assert_allclose(soft(labels, "sigmoid"), cells, rtol=1e-6)


def test_label_of_a_low_value_is_not_counted():
    given = [["a"], ["b", "a"], ["b"]]
    expected = soft([["a"], ["b"], ["b"]])
    np.testing.assert_array_equal(soft(given, values=[[1.0], [0.75, 0.5], [0.625]]), expected)


def test_labels_outside_the_space_and_null_rows_are_not_counted():
    np.testing.assert_array_equal(soft([["a", "z"], ["b"], None]), soft([["a"], ["b"], []]))
    np.testing.assert_array_equal(soft([["a"], ["b"], ["z"]]), soft([["a"], ["b"], []]))


def test_label_named_twice_counts_once():
    np.testing.assert_array_equal(soft([["a", "a"], ["b"], ["b"]]), soft([["a"], ["b"], ["b"]]))


def test_unknown_way_to_normalize_is_met_with_the_nearest():
    with pytest.raises(SettingsError, match="unknown normalize 'softmaxx'; did you mean 'softmax'"):
        soft([["a"], ["b"], ["b"]], "softmaxx")
