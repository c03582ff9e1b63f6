"""What each text adds to an F1 score: values whose mean is the score, so that texts can be compared one by one.

F1 is a ratio of sums over texts, no mean. To first order it is the mean of its linear expansion (the delta method;
the infinitesimal jackknife's pseudo-values): with F = 2 T / N, text e of n counts F + n (2 t_e - F n_e) / N.
"""

import numpy as np

METRICS = ("micro_f1", "macro_f1")


def influence(metric: str, truth: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Truth and chosen (n, L) bool -> values (n,) with the metric as their mean.

    >>> truth, chosen = np.array([[True, False], [True, True]]), np.array([[True, True], [False, True]])
    >>> float(influence("micro_f1", truth, chosen).mean())
    0.6666666666666666
    """
    truth, chosen = np.asarray(truth, bool), np.asarray(chosen, bool)
    if metric not in METRICS:
        raise ValueError(metric)
    if metric == "micro_f1":
        hits, counted = (truth & chosen).sum(1), truth.sum(1) + chosen.sum(1)
        return _expanded(hits[:, None], counted[:, None])[:, 0]
    # labels one after the other: (n, L) of floats would be eight times the truth
    total = np.zeros(len(truth))
    for label in range(truth.shape[1]):
        hits, counted = truth[:, label] & chosen[:, label], truth[:, label].astype(int) + chosen[:, label]
        total += _expanded(hits[:, None], counted[:, None])[:, 0]
    return total / max(truth.shape[1], 1)


def _expanded(hits: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Hits (n, k) and what is true plus what is chosen (n, k) -> values (n, k) of F1; 0 where nothing is either."""
    whole = counted.sum(0)
    score = np.divide(2 * hits.sum(0), whole, out=np.zeros(whole.shape), where=whole > 0)
    moved = np.divide(2 * hits - score * counted, whole, out=np.zeros(hits.shape), where=whole > 0)
    return score + len(hits) * moved
