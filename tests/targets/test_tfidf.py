"""LS-TFIDF: raw counts and plain inverse frequencies in place of KWLS's relevances."""

from math import inf

import numpy as np
import pyarrow as pa
import pytest

from tagwright.labels.space import LabelSpace
from tagwright.targets.tfidf import tfidf

from .reference import left_out, random_texts, relevance, softmax, tokens_of

NAMES = ("a", "b", "c", "d", "e")
SPACE = LabelSpace(names=NAMES, counts=(1,) * 5, exclusive=True)


def table(labels: list[list[int]]) -> pa.Table:
    return pa.table(
        {"labels": pa.array([[NAMES[i] for i in own] for own in labels], pa.list_(pa.string()))}
    )


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_soft_labels_equal_slow_loops(leave_one_out: bool):
    texts, labels = random_texts(0)
    if leave_one_out:
        expected = left_out(texts, labels, 5, inf, 0.0, inf, 0.0)
    else:
        expected = relevance(texts, texts, labels, 5, inf, 0.0, inf, 0.0)
    soft = tfidf(table(labels), SPACE, tokens_of(texts), leave_one_out=leave_one_out)
    assert soft.dtype == np.float32
    np.testing.assert_allclose(soft, [softmax(row) for row in expected], rtol=1e-5, atol=1e-30)


def test_by_hand():
    # word 2 twice in label 0 of two, in one text of two: (2 ln 2) * (2 ln 2) / 1.5
    space = LabelSpace(names=("a", "b"), counts=(1, 1), exclusive=True)
    soft = tfidf(table([[0], [1]]), space, tokens_of([[2, 2], [3]]))
    own = (2 * np.log(2)) ** 2 / 1.5
    np.testing.assert_allclose(soft[0], [1 / (1 + np.exp(-own)), 1 / (1 + np.exp(own))], rtol=1e-6)


def test_word_of_every_label_counts_nothing():
    soft = tfidf(table([[i] for i in range(5)]), SPACE, tokens_of([[2]] * 5))
    np.testing.assert_array_equal(soft, np.full((5, 5), 0.2, np.float32))


def test_very_frequent_words_stay_finite():
    soft = tfidf(table([[0], [1]]), SPACE, tokens_of([[2] * 30_000, [3]]))
    np.testing.assert_array_equal(soft[0], [1, 0, 0, 0, 0])
    assert np.isfinite(soft).all()


def test_many_labels_are_normalized_one_by_one():
    many = LabelSpace(names=NAMES, counts=(1,) * 5, exclusive=False)
    soft = tfidf(table([[0, 1], [1]]), many, tokens_of([[2], [3]]))
    assert (soft[0, :2] > 0.5).all()
    np.testing.assert_array_equal(soft[:, 2:], 0.5)
