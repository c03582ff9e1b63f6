"""Cuts of all labels together, against every cut of every label."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.decisions._joint import joint_cuts


def made(rows=30, labels=4, *, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    truth = rng.random((rows, labels)) < np.linspace(0.05, 0.5, labels)
    truth[0] = True
    scores = rng.normal(size=truth.shape) + truth
    return (np.round(scores) if ties else scores), truth


def quality(scores, truth, cuts, weight):
    """Macro-F1 over the labels that have positives, plus so many times micro-F1."""
    seen, chosen = truth.any(0), scores > cuts
    right, named = (truth & chosen).sum(0), truth.sum(0) + chosen.sum(0)
    return (2 * right[seen] / named[seen]).mean() + weight * 2 * right.sum() / named.sum()


def test_quality_is_what_scikit_learn_says():
    scores, truth = made(labels=5)
    truth[:, 2] = False
    cuts, seen = np.array([0.1, 9.0, 0.5, -0.5, 0.0]), [0, 1, 3, 4]
    macro = f1_score(truth[:, seen], (scores > cuts)[:, seen], average="macro", zero_division=0)
    micro = f1_score(truth, scores > cuts, average="micro")
    assert quality(scores, truth, cuts, 2.0) == pytest.approx(macro + 2 * micro, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_cut_of_one_label_is_better(seed, weight, ties):
    scores, truth = made(seed=seed, ties=ties)
    cuts = joint_cuts(scores, truth, weight=weight)
    found = quality(scores, truth, cuts, weight)
    for label in range(4):
        for cut in (-np.inf, *np.unique(scores[:, label])):
            other = cuts.copy()
            other[label] = cut
            assert quality(scores, truth, other, weight) <= found + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_of_two_labels_all_pairs_of_cuts_are_beaten(seed):
    scores, truth = made(rows=15, labels=2, seed=seed)
    found = quality(scores, truth, joint_cuts(scores, truth, weight=2.0), 2.0)
    every = [(-np.inf, *np.unique(scores[:, label])) for label in range(2)]
    best = max(quality(scores, truth, np.array(cuts), 2.0) for cuts in product(*every))
    assert found == pytest.approx(best, abs=0.02)  # one cut at a time may stop a little short of it


def test_a_label_that_costs_more_than_it_gains_is_not_chosen():
    """One right choice in forty: good for its own F1, bad for everybody's."""
    truth = np.zeros((400, 2), bool)
    truth[:200, 0] = True
    truth[39, 1] = True
    scores = np.stack([np.where(truth[:, 0], 1.0, -1.0), np.linspace(1, -1, 400)], axis=1)
    assert (scores > joint_cuts(scores, truth, weight=0.0))[:, 1].sum() == 40
    assert (scores > joint_cuts(scores, truth, weight=2.0))[:, 1].sum() == 0


def test_a_label_without_positives_has_its_highest_score():
    scores, truth = made()
    truth[:, 1] = False
    assert joint_cuts(scores, truth, weight=2.0)[1] == scores[:, 1].max()


def test_all_positive_chooses_all():
    scores, truth = made()
    assert (scores > joint_cuts(scores, np.ones_like(truth), weight=2.0)).all()


def test_order_of_rows_changes_nothing():
    scores, truth = made(ties=True)
    shuffled = np.random.default_rng(1).permutation(len(scores))
    first, second = (
        joint_cuts(scores[i], truth[i], weight=2.0) for i in (np.arange(len(scores)), shuffled)
    )
    np.testing.assert_array_equal(first, second)
