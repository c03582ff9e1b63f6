"""Correlation of labels, and its likeness to other matrices, against NumPy, SciPy and plain
loops.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from tagwright.explain.correlation import alike_order, label_correlation, likeness


def drawn(rows, labels, *, seed=0):
    random = np.random.default_rng(seed)
    return random.random((rows, labels)) < random.uniform(0.1, 0.6, labels)


def symmetric(labels, *, seed=0):
    made = np.random.default_rng(seed).standard_normal((labels, labels))
    return made + made.T


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


def test_it_is_pearsons_and_for_columns_of_0_and_1_spearmans_too():
    truth = drawn(401, 7).astype(float)
    found = label_correlation(csr_array(truth))
    np.testing.assert_allclose(found, np.corrcoef(truth.T), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found, spearmanr(truth).statistic, rtol=0, atol=1e-12)


def test_a_label_on_no_text_or_on_all_has_none():
    truth = drawn(41, 4)
    truth[:, 1], truth[:, 2] = False, True
    found = label_correlation(csr_array(truth))
    assert np.isnan(found[1:3]).all()
    assert np.isnan(found[:, 1:3]).all()
    assert found[0, 0] == found[3, 3] == 1.0


def test_labels_are_compared_on_the_texts_that_know_both():
    truth, unknown = drawn(101, 5), drawn(101, 5, seed=1)
    truth &= ~unknown
    found = label_correlation(csr_array(truth), csr_array(unknown))
    for i in range(5):
        for j in range(5):
            known = ~unknown[:, i] & ~unknown[:, j]
            expected = np.corrcoef(truth[known, i], truth[known, j])[0, 1]
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_soft_values_count_as_labels():
    truth = drawn(41, 3)
    np.testing.assert_array_equal(
        label_correlation(csr_array(truth * 0.7)), label_correlation(csr_array(truth))
    )


def test_likeness_is_scipys_over_cells_off_the_diagonal():
    attention, correlation = np.random.default_rng(3).random((11, 11)), symmetric(11)
    found = likeness(attention, correlation, draws=9)
    expected = spearmanr(off_diagonal(attention), off_diagonal(correlation))
    assert found.cells == 110
    assert found.spearman == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_the_diagonal_takes_no_part():
    attention, correlation = np.random.default_rng(3).random((7, 7)), symmetric(7)
    before = likeness(attention, correlation, draws=99)
    np.fill_diagonal(attention, 100.0)
    np.fill_diagonal(correlation, -100.0)
    assert likeness(attention, correlation, draws=99) == before


def test_cells_that_one_of_both_lacks_are_left_out():
    attention, correlation = np.random.default_rng(3).random((9, 9)), symmetric(9)
    attention[:4, 4:] = np.nan
    correlation[7] = correlation[:, 7] = np.nan
    found = likeness(attention, correlation, draws=9)
    both = np.isfinite(attention) & np.isfinite(correlation) & ~np.eye(9, dtype=bool)
    assert found.cells == both.sum() == 56 - 16
    assert found.spearman == pytest.approx(
        spearmanr(attention[both], correlation[both]).statistic, abs=1e-12
    )
    assert 0 < found.p_shuffled <= 1


def test_shuffled_labels_give_the_share_that_all_orders_give():
    attention, correlation = symmetric(5, seed=1), symmetric(5, seed=2)
    values = []
    for order in permutations(range(5)):
        moved = correlation[np.ix_(order, order)]
        values.append(abs(spearmanr(off_diagonal(attention), off_diagonal(moved)).statistic))
    exact = np.mean(np.array(values) >= values[0] - 1e-9)
    assert 0.05 < exact < 0.95
    assert likeness(attention, correlation, draws=4000).p_shuffled == pytest.approx(exact, abs=0.03)


def test_equal_matrices_are_alike_beyond_chance():
    correlation = symmetric(12)
    found = likeness(correlation, correlation)
    assert found.spearman == pytest.approx(1.0)
    assert found.p_shuffled == pytest.approx(0.001)


def test_labels_that_draw_much_attention_do_not_fool_shuffled_labels_as_they_do_scipy():
    """Matrices that have nothing to do with each other, but whose cells hang together by their
    labels.
    """
    effects = np.random.default_rng(0).standard_normal((41, 12))
    made = [effect + effect[:, None] for effect in effects]
    found = [likeness(one, made[0], draws=199) for one in made[1:]]
    assert np.mean([one.p_shuffled < 0.05 for one in found]) <= 0.15
    assert np.mean([one.p_value < 0.05 for one in found]) >= 0.4


def test_likeness_is_the_same_every_time():
    attention, correlation = np.random.default_rng(3).random((7, 7)), symmetric(7)
    assert likeness(attention, correlation) == likeness(attention, correlation)


@pytest.mark.parametrize("labels", [1, 2])
def test_one_pair_has_no_order(labels):
    found = likeness(np.random.default_rng(0).random((labels, labels)), symmetric(labels))
    assert np.isnan(found.spearman)
    assert np.isnan(found.p_shuffled)


def test_what_does_not_vary_is_like_nothing():
    assert np.isnan(likeness(np.full((5, 5), 0.1), symmetric(5)).spearman)
    assert np.isnan(likeness(np.full((5, 5), np.nan), symmetric(5)).spearman)
    assert np.isnan(likeness(symmetric(5), np.full((5, 5), np.nan)).spearman)


def test_alike_labels_stand_together():
    groups = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    similarity = np.where(groups == groups[:, None], 0.8, -0.1) + 0.01 * symmetric(8)
    similarity[0, 1] = similarity[1, 0] = np.nan
    order = alike_order(similarity)
    assert sorted(order.tolist()) == list(range(8))
    assert (np.diff(groups[order]) != 0).sum() == 2


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_few_labels_have_an_order(labels):
    assert sorted(alike_order(symmetric(labels)).tolist()) == list(range(labels))


def test_an_order_needs_no_value_at_all():
    assert sorted(alike_order(np.full((4, 4), np.nan)).tolist()) == [0, 1, 2, 3]
