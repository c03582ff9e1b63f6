"""Shortlists: which of their cells are true, and what was chosen of them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.labels.shortlist import Shortlist, ShortScores


@pytest.fixture
def scores():
    shortlist = Shortlist(
        np.array([[4, 0], [1, 3]], np.int32), np.array([[2.0, 1.0], [3.0, -1.0]]), None, 5
    )
    return ShortScores(
        shortlist, np.array([[0.9, 0.7], [0.95, 0.2]]), np.array([[True, True], [True, False]])
    )


def test_true_cells(scores):
    truth = csr_array(np.array([[1, 0, 1, 0, 0], [0, 0, 0, 1, 0]], bool))
    assert scores.shortlist.truth_cells(truth).tolist() == [[False, True], [False, True]]


def test_truth_may_know_more_labels_than_the_model(scores):
    truth = csr_array(np.array([[0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 1]], bool))
    assert scores.shortlist.truth_cells(truth).tolist() == [[True, False], [False, False]]


def test_chosen_cells_come_in_the_order_of_the_labels(scores):
    rows, labels, values = scores.cells()
    assert (rows.tolist(), labels.tolist(), values.tolist()) == (
        [0, 0, 1],
        [0, 4, 1],
        [0.7, 0.9, 0.95],
    )
    assert scores.cells(np.array([False, True]))[1].tolist() == [1]
    assert scores.highest().tolist() == [4, 1]


def test_choices_as_a_sparse_matrix(scores):
    assert scores.matrix().toarray().tolist() == [
        [True, False, False, False, True],
        [False, True, False, False, False],
    ]
    assert scores.matrix(7).shape == (2, 7)
