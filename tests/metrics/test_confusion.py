"""Confused pairs against plain loops and scikit-learn's confusion matrix."""

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from tagwright.errors import ShapeError
from tagwright.metrics.confusion import Confusion


def loop_pairs(truth: np.ndarray, chosen: np.ndarray) -> dict[tuple[int, int], list[int]]:
    """The rows of every (missed, wrong) pair."""
    rows: dict[tuple[int, int], list[int]] = {}
    for row, (true, picked) in enumerate(zip(truth, chosen)):
        for i in np.flatnonzero(true & ~picked).tolist():
            for j in np.flatnonzero(picked & ~true).tolist():
                rows.setdefault((i, j), []).append(row)
    return rows


def test_pairs_equal_plain_loops(cases):
    for case in cases:
        pairs = Confusion.of(*case).pairs.tocoo()
        found = Counter(dict(zip(zip(*(c.tolist() for c in pairs.coords)), pairs.data.tolist())))
        assert found == {
            pair: len(rows) for pair, rows in loop_pairs(case.truth, case.chosen).items()
        }


def test_share_counts_rows_with_a_missed_and_a_wrong_label(cases):
    for case in cases:
        rows = {row for rows in loop_pairs(case.truth, case.chosen).values() for row in rows}
        assert Confusion.of(*case).results()["confused_share"] == len(rows) / len(case.truth)


def test_exclusive_rows_give_scikit_learns_matrix_off_the_diagonal(exclusive):
    expected = confusion_matrix(exclusive.truth.argmax(axis=1), exclusive.chosen.argmax(axis=1))
    np.fill_diagonal(expected, 0)
    assert Confusion.of(*exclusive).pairs.toarray().tolist() == expected.tolist()


def test_top_pairs_come_with_their_first_rows_whatever_the_chunks(cases):
    for case in cases:
        order = np.random.default_rng(4).permutation(len(case.truth))
        parts = np.split(order, [7, 7, 30])
        states = [Confusion.of(*(part[rows] for part in case), rows=rows) for rows in parts]
        expected = sorted(
            (-len(rows), pair, tuple(rows[:3])) for pair, rows in loop_pairs(*case[1:]).items()
        )[:5]
        found = sum(states[1:], start=states[0]).top(5)
        assert [(-p.times, (p.missed, p.wrong), p.rows) for p in found] == expected


def test_without_row_indices_no_rows_are_named(exclusive):
    assert {pair.rows for pair in Confusion.of(*exclusive).top()} == {()}


def test_a_perfect_tagger_confuses_nothing(exclusive):
    state = Confusion.of(exclusive.scores, exclusive.truth, exclusive.truth, rows=np.arange(401))
    assert state.top() == []


def test_too_few_row_indices_are_refused(exclusive):
    with pytest.raises(ShapeError, match=r"401 rows, got shape \(400,\)"):
        Confusion.of(*exclusive, rows=np.arange(400))
