"""Which texts go into which batch: neighbors in length, so that little is padded."""

import numpy as np

from tagwright.arrays import Ints

# tokens of a batch in prediction, padding included, by kind of device: a CPU gains nothing by more,
# and pads less; a GPU waits for the host between small ones, and with more an evaluation would want
# more memory than training does
ROOMS = {"cpu": 1024, "cuda": 32_768, "other": 8192}
POOL = 64  # batches that are sorted by length together; more pad less but mix less


def plan(
    lengths: Ints,
    *,
    batch: int,
    seed: int,
    epoch: int,
    shuffle: bool = True,
    room: int | None = None,
) -> list[Ints]:
    """Indices of each batch, every text exactly once; the plan depends on (seed, epoch) alone.

    Without `shuffle` all texts are sorted by length: the least padding, for prediction; the caller
    restores the order. A batch then holds no more than `room` tokens, padding included, if a text
    alone does not.

    >>> plan(np.array([3, 1, 2]), batch=2, seed=0, epoch=0, shuffle=False)
    [array([1, 2]), array([0])]
    """
    if not shuffle:
        order = np.argsort(lengths, kind="stable")
        return (
            _cut(order, batch) if room is None else _cut_to_room(order, lengths[order], batch, room)
        )
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(lengths))
    pool = np.arange(len(lengths)) // (batch * POOL)
    # lexsort is stable: texts of one length stay in random order
    batches = _cut(order[np.lexsort((lengths[order], pool))], batch)
    return [batches[i] for i in random.permutation(len(batches))]


def _cut(order: Ints, batch: int) -> list[Ints]:
    return [order[start : start + batch] for start in range(0, len(order), batch)]


def _cut_to_room(order: Ints, ascending: Ints, batch: int, room: int) -> list[Ints]:
    """The longest text of a batch is its last one: as many as `room` has place for at that
    length.
    """
    batches, start = [], 0
    while start < len(order):
        padded = ascending[start : start + batch] * np.arange(1, min(batch, len(order) - start) + 1)
        stop = start + max(1, int(np.searchsorted(padded, room, side="right")))
        batches.append(order[start:stop])
        start = stop
    return batches
