"""Which texts go into which batch: neighbours in length, so that little is padded."""

import numpy as np

POOL = 64  # batches that are sorted by length together; more pad less but mix less


def plan(lengths: np.ndarray, *, batch: int, seed: int, epoch: int, shuffle: bool = True) -> list[np.ndarray]:
    """Indices of each batch, every text exactly once; the plan depends on (seed, epoch) alone.

    Without `shuffle` all texts are sorted by length: the least padding, for prediction; the caller restores the order.

    >>> plan(np.array([3, 1, 2]), batch=2, seed=0, epoch=0, shuffle=False)
    [array([1, 2]), array([0])]
    """
    if not shuffle:
        return _cut(np.argsort(lengths, kind="stable"), batch)
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(lengths))
    pool = np.arange(len(lengths)) // (batch * POOL)
    # lexsort is stable: texts of one length stay in random order
    batches = _cut(order[np.lexsort((lengths[order], pool))], batch)
    return [batches[i] for i in random.permutation(len(batches))]


def _cut(order: np.ndarray, batch: int) -> list[np.ndarray]:
    return [order[start : start + batch] for start in range(0, len(order), batch)]
