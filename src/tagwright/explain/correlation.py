"""Which labels come together (LM-MTC, Figure 1), and how like that a matrix of attention between
them is.
"""

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform
from scipy.stats import rankdata, spearmanr

from tagwright.arrays import Bools, Floats, Ints

DRAWS = 999
FEWEST = 3  # labels: two have one correlation, and nothing to be ranked


class Likeness(NamedTuple):
    """How alike the order of two matrices' cells is, without their diagonals; NaN where that cannot
    be said.

    `p_value` is scipy's, which takes cells for independent. They are not, for a label has a row and
    a column of them: `p_shuffled` is the share of shuffled labels that come as far from 0, a Mantel
    test.
    """

    spearman: float
    p_value: float
    p_shuffled: float
    cells: int


def label_correlation(truth: csr_array, unknown: csr_array | None = None) -> Floats:
    """Pearson's correlation (L, L), float64, between 0/1 columns (n, L): phi, and Spearman's is the
    same.

    NaN where a label is on no text, or on all. `unknown` (n, L) marks cells that nobody judged, and
    where a label is 0: two labels are compared on the texts that know both.

    >>> truth = csr_array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> label_correlation(truth)[0].round(3).tolist()
    [1.0, 1.0, -0.577]
    """
    ones = csr_array(truth != 0).astype(np.float64)
    hidden = (
        csr_array(ones.shape) if unknown is None else csr_array(unknown != 0).astype(np.float64)
    )
    blank = hidden.sum(axis=0)
    rows = ones.shape[0] - blank[:, None] - blank + (hidden.T @ hidden).toarray()
    own = ones.sum(axis=0)[:, None] - (ones.T @ hidden).toarray()  # texts of i, where j is known
    shared = rows * (ones.T @ ones).toarray() - own * own.T
    spread = own * (rows - own)
    scale = np.sqrt(spread * spread.T)
    return np.divide(shared, scale, out=np.full(scale.shape, np.nan), where=scale > 0)


def likeness(
    attention: Floats, correlation: Floats, *, seed: int = 0, draws: int = DRAWS
) -> Likeness:
    """Spearman's correlation of two matrices (L, L), over cells off the diagonal that both have."""
    known = np.isfinite(correlation).sum(0) > 1  # a label that has no correlation takes no part
    attention, correlation = attention[np.ix_(known, known)], correlation[np.ix_(known, known)]
    apart = ~np.eye(len(attention), dtype=bool) & np.isfinite(correlation)
    cells = apart & np.isfinite(attention)
    left, right = attention[cells], correlation[cells]
    if len(attention) < FEWEST or len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return Likeness(np.nan, np.nan, np.nan, len(left))
    found = spearmanr(left, right)
    shuffled = _shuffled(attention, correlation, apart, np.random.default_rng(seed), draws)
    return Likeness(float(found.statistic), float(found.pvalue), shuffled, len(left))


def alike_order(similarity: Floats) -> Ints:
    """An order of labels (L,) in which those of a high similarity (L, L) stand together; NaN counts
    as none.

    Leaves of an average-linkage tree, turned so that neighbors are alike.
    """
    if len(similarity) < FEWEST:
        return np.arange(len(similarity))
    both = np.nan_to_num((similarity + similarity.T) / 2)
    distance = both.max() - both
    np.fill_diagonal(distance, 0.0)
    found: Ints = leaves_list(linkage(squareform(distance), "average", optimal_ordering=True))
    return found


def _shuffled(
    attention: Floats,
    correlation: Floats,
    apart: Bools,
    random: np.random.Generator,
    draws: int,
) -> float:
    """The share of shuffled labels whose ranks agree, or disagree, as much as those of the labels
    as they are.
    """
    ranks = np.full(correlation.shape, np.nan)
    ranks[apart] = rankdata(correlation[apart])
    own = np.full(attention.shape, np.nan)
    seen = apart & np.isfinite(attention)
    own[seen] = rankdata(attention[seen])
    orders = [np.arange(len(ranks)), *(random.permutation(len(ranks)) for _ in range(draws))]
    found = np.abs([_agreement(own, ranks[np.ix_(order, order)]) for order in orders])
    return float((found >= found[0] - 1e-12).mean())


def _agreement(left: Floats, right: Floats) -> float:
    """Pearson's correlation over the cells that both have; 0 where either does not vary there."""
    both = np.isfinite(left) & np.isfinite(right)
    left, right = (values[both] - values[both].mean() for values in (left, right))
    scale = np.sqrt((left @ left) * (right @ right))
    return float(left @ right / scale) if scale > 0 else 0.0
