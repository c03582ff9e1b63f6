"""What each text adds to an F1 score: values whose mean is the score, so that texts can be compared
one by one.

F1 is a ratio of sums over texts, no mean. To first order it is the mean of its linear expansion
(the delta method; the infinitesimal jackknife's pseudo-values): with F = 2 T / N, text e of n
counts F + n (2 t_e - F n_e) / N.
"""

import numpy as np

from tagwright.arrays import Bools, Floats, Ints

METRICS = ("micro_f1", "macro_f1")


def influence(metric: str, truth: Bools, chosen: Bools) -> Floats:
    """Truth and chosen (n, L) bool -> values (n,) with the metric as their mean.

    >>> truth = np.array([[True, False], [True, True]])
    >>> chosen = np.array([[True, True], [False, True]])
    >>> float(influence("micro_f1", truth, chosen).mean())
    0.6666666666666666
    """
    truth, chosen = np.asarray(truth, bool), np.asarray(chosen, bool)
    if metric not in METRICS:
        raise ValueError(metric)
    if metric == "micro_f1":
        return _expanded((truth & chosen).sum(1), truth.sum(1) + chosen.sum(1))
    total = np.zeros(len(truth))
    for own, picked in zip(
        truth.T, chosen.T
    ):  # one after the other: (n, L) of floats would be eight times the truth
        total += _expanded((own & picked).astype(int), own.astype(int) + picked)
    return total / max(truth.shape[1], 1)


def _expanded(hits: Ints, counted: Ints) -> Floats:
    """Hits (n,) and what is true plus what is chosen (n,) -> values (n,) of F1; 0 where nothing is
    either.
    """
    whole = counted.sum()
    if not whole:
        return np.zeros(len(hits))
    score = 2 * hits.sum() / whole
    return score + len(hits) * (2 * hits - score * counted) / whole
