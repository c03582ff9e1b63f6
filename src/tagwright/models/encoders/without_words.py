"""The strongest windows of texts without some of their words, from the windows of the whole texts.

A deletion only changes windows that span the gap. The others are those of the text: their maximum
is that of a prefix and of a suffix, which one pass over the text gives for all its deletions. New
are at most w - 1 windows of w words.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = {"cpu": 3072}  # what is done at a time: on a CPU it stays in the cache
OTHER_CHUNK = 65_536
TEXT = 8  # copies that a text costs as much as


class Removals(NamedTuple):
    """Copies: each is text `owner` without its tokens from `start` to `stop`; int64 (C,) on the
    host, by owner.
    """

    owner: Tensor
    start: Tensor
    stop: Tensor


def strongest(
    products: Tensor, places: Tensor, lengths: Tensor, windows: tuple[int, ...], cuts: Removals
) -> Iterator[Tensor]:
    """The largest window sum of every filter, (C, windows x filters), a part of the copies at a
    time.

    products (U, sum of windows x filters) as in `WindowMax`; places (B, T) into U, with as much
    padding behind every text as the largest window is wide. Neither is differentiated.
    """
    steps = sum(windows)
    table = products.view(len(products) * steps, -1)
    columns = list(accumulate(windows[:-1], initial=0))
    for part in _parts(cuts, CHUNK.get(places.device.type, OTHER_CHUNK)):
        first, last = int(part.owner[0]), int(part.owner[-1]) + 1
        own = Removals(part.owner - first, part.start, part.stop)
        own = Removals(*(column.to(places.device, non_blocking=True) for column in own))
        rows = places[first:last] * steps
        best = table.new_empty(len(own.owner), len(windows), table.shape[1])
        for number, (window, column) in enumerate(zip(windows, columns)):
            _of_window(table, rows + column, lengths[first:last], window, own, out=best[:, number])
        yield best.flatten(1)


def _parts(cuts: Removals, size: int) -> Iterator[Removals]:
    """Neighbors that cost about `size`: a copy 1, a text of theirs as much as some copies."""
    opens = cuts.owner.diff(prepend=cuts.owner[:1] - 1) != 0
    number = torch.cumsum(1 + TEXT * opens, 0) // size
    counts = torch.unique_consecutive(number, return_counts=True)[1].tolist()
    for columns in zip(*(column.split(counts) for column in cuts)):
        yield Removals(*columns)


def _of_window(
    table: Tensor, rows: Tensor, lengths: Tensor, window: int, cuts: Removals, *, out: Tensor
) -> None:
    """rows (B, T): where in the table the first place of the window has its product with each
    token.
    """
    prefix, suffix = _runs(table, rows, lengths, window)
    count = prefix.shape[1]
    nowhere = count - 1  # the last start stands for no window
    left = torch.where(cuts.start >= window, cuts.start - window, nowhere) + cuts.owner * count
    right = (
        torch.where(cuts.stop <= lengths[cuts.owner] - window, cuts.stop, nowhere)
        + cuts.owner * count
    )
    best = torch.maximum(
        prefix.flatten(0, 1).index_select(0, left), suffix.flatten(0, 1).index_select(0, right)
    )
    torch.maximum(best, _across(table, rows, lengths, window, cuts), out=out)


def _runs(table: Tensor, rows: Tensor, lengths: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """Largest sum of the windows up to each start and from it on, (B, S + 1, filters); the last row
    is -inf.
    """
    shortest, longest = (int(bound) for bound in lengths.aminmax())
    step = torch.arange(window, device=rows.device)
    bags = rows[:, : max(longest, window)].unfold(1, window, 1) + step  # (B, S, window)
    starts = bags.shape[1]
    sums = F.embedding_bag(bags.flatten(0, 1), table, mode="sum").view(len(rows), starts, -1)
    first = max(shortest - window + 1, 0)  # up to here every text has windows
    outside = torch.arange(first, starts, device=rows.device) + window > lengths[:, None]
    sums[:, first:].masked_fill_(outside[..., None], -torch.inf)
    prefix, suffix = (sums.new_empty(len(rows), starts + 1, sums.shape[2]) for _ in range(2))
    prefix[:, 0], suffix[:, starts - 1] = sums[:, 0], sums[:, starts - 1]
    prefix[:, starts] = suffix[:, starts] = -torch.inf
    for start in range(1, starts):
        torch.maximum(sums[:, start], prefix[:, start - 1], out=prefix[:, start])
    for start in range(starts - 2, -1, -1):
        torch.maximum(sums[:, start], suffix[:, start + 1], out=suffix[:, start])
    return prefix, suffix


def _across(table: Tensor, rows: Tensor, lengths: Tensor, window: int, cuts: Removals) -> Tensor:
    """Largest sum of the windows that span the gap, (C, filters).

    Where fewer do, because the copy begins or ends there, another window of the copy stands in: it
    counts anyway. A copy shorter than the window has a single one, filled up with padding.
    """
    removed = (cuts.stop - cuts.start)[:, None]
    last = (lengths[cuts.owner][:, None] - removed - window).clamp(min=0)
    slots = torch.arange(max(window - 1, 1), device=rows.device)
    # (C, slots)
    starts = torch.minimum((cuts.start[:, None] - window + 1 + slots).clamp(min=0), last)
    step = torch.arange(window, device=rows.device)
    place = starts[..., None] + step  # (C, slots, window), in the copy
    place = place + removed[..., None] * (place >= cuts.start[:, None, None])
    bags = rows[cuts.owner[:, None, None], place] + step
    sums = F.embedding_bag(bags.flatten(0, 1), table, mode="sum")
    return sums.view(len(starts), len(slots), -1).amax(1)
