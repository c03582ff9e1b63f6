"""Groups suggested by data: labels that a model confuses, or that come on the same texts, with the
evidence.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from tagwright.arrays import Ints, Numbers

ROUNDING = 1e-9  # of a mean of rates that is the share itself


class SimilarLabels(NamedTuple):
    """Two labels, in how many texts they met, and the rate of that."""

    left: str
    right: str
    texts: int
    rate: float


class Suggestion(NamedTuple):
    """Groups of labels, and the pairs that speak for them. A group is named by its label with the
    most texts.
    """

    groups: dict[str, list[str]]  # name -> labels, alphabetical
    # name -> pairs inside the group that are alike, highest rate first
    evidence: dict[str, list[SimilarLabels]]
    apart: list[
        SimilarLabels
    ]  # pairs that are alike, but whose labels came into different groups, or none


def confusion_rates(
    truth: csr_array, chosen: csr_array, unknown: csr_array | None = None
) -> tuple[csr_array, csr_array]:
    """How often a label is chosen wrongly where another is gold: counts and rates (L, L),
    symmetric.

    Truth and choices are sparse bool (n, L); `unknown` cells, which nobody judged, are no mistakes.
    The count of labels i and j is the texts of i that wrongly got j plus those of j that wrongly
    got i; the rate is its share of the texts of i plus those of j. With one label a text these are
    the confusions of i and j.
    """
    gold = truth.astype(np.int64)
    wrong = (chosen > truth).astype(np.int64)
    if unknown is not None:
        wrong -= wrong.multiply(unknown)
    one_way = (gold.T @ wrong).tocsr()
    counts = coo_array(one_way + one_way.T)
    texts = gold.sum(axis=0)
    left, right = counts.coords
    return _with(counts, counts.data), _with(counts, counts.data / (texts[left] + texts[right]))


def cooccurrence_rates(truth: csr_array) -> tuple[csr_array, csr_array]:
    """How often labels come on the same text: counts and Jaccard indices (L, L), symmetric; truth
    is bool (n, L).
    """
    gold = truth.astype(np.int64)
    both = coo_array(gold.T @ gold)
    texts = gold.sum(axis=0)
    left, right = both.coords
    return _with(both, both.data), _with(both, both.data / (texts[left] + texts[right] - both.data))


def suggest(
    labels: Sequence[str],
    counts: csr_array,
    rates: csr_array,
    *,
    texts: Ints,
    share: float,
    least: int,
) -> Suggestion:
    """Groups of labels that are alike: a rate of at least `share` in at least `least` texts, on
    average over a group.

    Counts and rates (L, L) are symmetric without a diagonal; `texts` (L,) is how many texts a label
    has.
    """
    rates = csr_array(rates.multiply(counts >= least))  # what came once or twice is chance
    found = {}
    for ids in clusters(rates, share):
        found[labels[max(ids, key=lambda label: (texts[label], -label))]] = [
            labels[label] for label in ids
        ]
    group_of = {label: name for name, members in found.items() for label in members}
    evidence: dict[str, list[SimilarLabels]] = {name: [] for name in sorted(found)}
    apart: list[SimilarLabels] = []
    for pair in pairs_of(labels, counts, rates, share=share):
        name = group_of.get(pair.left)
        (evidence[name] if name is not None and name == group_of.get(pair.right) else apart).append(
            pair
        )
    return Suggestion({name: found[name] for name in evidence}, evidence, apart)


def pairs_of(
    labels: Sequence[str], counts: csr_array, rates: csr_array, *, share: float = 0.0
) -> list[SimilarLabels]:
    """Pairs of labels with a rate of at least `share`, the highest first."""
    cells = coo_array(rates)
    left, right = cells.coords
    kept = (cells.data > 0) & (cells.data >= share) & (left < right)
    found = [
        SimilarLabels(labels[i], labels[j], int(counts[i, j]), rate)
        for i, j, rate in zip(left[kept].tolist(), right[kept].tolist(), cells.data[kept].tolist())
    ]
    return sorted(found, key=lambda pair: (-pair.rate, -pair.texts, pair.left, pair.right))


def clusters(rates: csr_array, share: float) -> list[list[int]]:
    """Average-linkage clusters of two labels or more, whose parts have a mean rate of at least
    `share` > 0; their ids.

    Connected components would let one chain swallow all labels: a is taken for b, b for c, c for d,
    and soon everything is excused. A mean over all pairs does not carry so far. Between components
    no pair reaches the share, so no mean does, and each is clustered by itself: the full matrix of
    distances is only as large as a component.
    """
    _, component_of = connected_components(rates >= share, directed=False)
    order = np.argsort(component_of, kind="stable")
    found = []
    for ids in np.split(order, np.cumsum(np.bincount(component_of))[:-1]):
        if len(ids) < 2:
            continue
        distance = 1 - rates[ids][:, ids].toarray()
        np.fill_diagonal(distance, 0)
        joined = fcluster(
            linkage(squareform(distance), "average"), 1 - share + ROUNDING, criterion="distance"
        )
        found += [
            ids[joined == one].tolist() for one in np.unique(joined) if (joined == one).sum() > 1
        ]
    return sorted(found)


def _with(pattern: coo_array, values: Numbers) -> csr_array:
    """Values in the places of a pattern, without the diagonal."""
    left, right = pattern.coords
    other = left != right
    return csr_array((values[other], (left[other], right[other])), shape=pattern.shape)
