"""Suggested groups against loops over texts and pairs of labels."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.labels.suggest import (
    SimilarLabels,
    clusters,
    confusion_rates,
    cooccurrence_rates,
    pairs_of,
    suggest,
)

NAMES = ["a", "b", "c", "d", "e", "f", "g"]


def drawn(seed: int, *, one: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Truth and choices (41, 7)."""
    rng = np.random.default_rng(seed)
    if one:
        return np.eye(7, dtype=bool)[rng.integers(0, 7, 41)], np.eye(7, dtype=bool)[
            rng.integers(0, 7, 41)
        ]
    return rng.random((41, 7)) < 0.3, rng.random((41, 7)) < 0.3


def symmetric(rates: dict[tuple[int, int], float], size: int = 7) -> csr_array:
    made = np.zeros((size, size))
    for (i, j), rate in rates.items():
        made[i, j] = made[j, i] = rate
    return csr_array(made)


@pytest.mark.parametrize("seed", range(5))
def test_confusions_of_one_label_are_those_counted_text_by_text(seed: int) -> None:
    truth, chosen = drawn(seed, one=True)
    gold, taken = truth.argmax(1), chosen.argmax(1)
    counts, rates = confusion_rates(csr_array(truth), csr_array(chosen))
    for i, j in combinations(range(7), 2):
        count = sum({int(g), int(t)} == {i, j} for g, t in zip(gold, taken))
        texts = sum(g in (i, j) for g in gold)
        assert counts[i, j] == counts[j, i] == count
        assert rates[i, j] == rates[j, i] == pytest.approx(count / texts)
    assert not counts.diagonal().any()


@pytest.mark.parametrize("seed", range(5))
def test_confusions_of_several_labels_are_wrong_choices_beside_a_gold_label(seed: int) -> None:
    truth, chosen = drawn(seed)
    unknown = np.random.default_rng(seed + 50).random(truth.shape) < 0.2
    counts, rates = confusion_rates(csr_array(truth), csr_array(chosen), csr_array(unknown))
    for i, j in combinations(range(7), 2):
        count = 0
        for gold, taken, unjudged in zip(truth, chosen, unknown):
            count += int(gold[i] and taken[j] and not gold[j] and not unjudged[j])
            count += int(gold[j] and taken[i] and not gold[i] and not unjudged[i])
        assert counts[i, j] == count
        assert rates[i, j] == pytest.approx(count / (truth[:, i].sum() + truth[:, j].sum()))


@pytest.mark.parametrize("seed", range(5))
def test_cooccurrence_is_the_jaccard_index(seed: int) -> None:
    truth, _ = drawn(seed)
    counts, rates = cooccurrence_rates(csr_array(truth))
    for i, j in combinations(range(7), 2):
        both, either = (truth[:, i] & truth[:, j]).sum(), (truth[:, i] | truth[:, j]).sum()
        assert counts[i, j] == both
        assert rates[i, j] == pytest.approx(both / either)
    assert not counts.diagonal().any()


def averaged(rates: np.ndarray, share: float) -> list[list[int]]:
    """Average linkage, naively: join the two clusters of the highest mean rate, as long as it
    reaches the share.
    """
    found = [[i] for i in range(len(rates))]
    while len(found) > 1:
        means = {
            (a, b): rates[np.ix_(found[a], found[b])].mean()
            for a, b in combinations(range(len(found)), 2)
        }
        a, b = max(means, key=means.__getitem__)
        if means[a, b] < share:
            break
        found = [c for n, c in enumerate(found) if n not in (a, b)] + [found[a] + found[b]]
    return sorted(sorted(c) for c in found if len(c) > 1)


@pytest.mark.parametrize("seed", range(30))
def test_clusters_are_those_of_naive_average_linkage(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates = np.triu(rng.random((17, 17)) * (rng.random((17, 17)) < rng.choice([0.1, 0.3, 0.9])), 1)
    rates += rates.T
    assert clusters(csr_array(rates), 0.3) == averaged(rates, 0.3)


def test_chain_does_not_swallow_all_labels() -> None:
    chain = symmetric({(i, i + 1): 0.1 + 0.01 * i for i in range(6)})
    assert max(map(len, clusters(chain, 0.1))) == 2


def test_rate_that_is_the_share_itself_is_enough() -> None:
    assert clusters(symmetric({(0, 1): 0.05, (0, 2): 0.05, (1, 2): 0.05}), 0.05) == [[0, 1, 2]]


def test_no_labels_alike_are_no_groups() -> None:
    assert clusters(csr_array((7, 7)), 0.05) == []


def test_group_has_the_name_of_its_most_frequent_label_and_its_evidence() -> None:
    rates = symmetric({(0, 1): 0.3, (3, 4): 0.2, (1, 3): 0.15, (4, 5): 0.1})
    counts = symmetric({(0, 1): 9, (3, 4): 3, (1, 3): 5, (4, 5): 2})
    found = suggest(NAMES, counts, rates, texts=np.array([9, 9, 9, 1, 2, 3, 4]), share=0.1, least=3)
    assert found.groups == {"a": ["a", "b"], "e": ["d", "e"]}
    assert found.evidence == {
        "a": [SimilarLabels("a", "b", 9, 0.3)],
        "e": [SimilarLabels("d", "e", 3, 0.2)],
    }
    assert found.apart == [
        SimilarLabels("b", "d", 5, 0.15)
    ]  # e and f met in two texts, which is chance


def test_pairs_come_with_the_highest_rate_first() -> None:
    rates, counts = symmetric({(0, 1): 0.1, (2, 3): 0.3}), symmetric({(0, 1): 5, (2, 3): 6})
    assert pairs_of(NAMES, counts, rates) == [
        SimilarLabels("c", "d", 6, 0.3),
        SimilarLabels("a", "b", 5, 0.1),
    ]
