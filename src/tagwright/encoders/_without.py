"""The strongest windows of texts without some of their words, from the windows of the whole texts.

A deletion only changes windows that span the gap. The others are those of the text: their maximum is that of a prefix
and of a suffix, which one pass over the text gives for all its deletions. New are at most w - 1 windows of w words.
"""

from itertools import accumulate
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 1024  # copies at a time: their new windows stay in the cache


class Cuts(NamedTuple):
    """Copies: each is text `owner` without its tokens from `start` to `stop`; int64 (C,)."""

    owner: Tensor
    start: Tensor
    stop: Tensor


def strongest(products: Tensor, places: Tensor, lengths: Tensor, windows: tuple[int, ...], cuts: Cuts) -> Tensor:
    """The largest window sum of every filter, (C, windows x filters).

    products (U, sum of windows x filters) as in `WindowMax`; places (B, T) into U, with as much padding behind every
    text as the largest window is wide.
    """
    steps = sum(windows)
    table = products.view(len(products) * steps, -1)
    columns = accumulate(windows[:-1], initial=0)
    parts = [_of_window(table, places * steps + column, lengths, w, cuts) for w, column in zip(windows, columns)]
    return torch.cat(parts, 1)


def _of_window(table: Tensor, rows: Tensor, lengths: Tensor, window: int, cuts: Cuts) -> Tensor:
    """rows (B, T): where in the table the first place of the window has its product with each token."""
    prefix, suffix = _runs(table, rows, lengths, window)
    starts = prefix.shape[1] - 1  # the last one stands for no window
    left = torch.where(cuts.start >= window, cuts.start - window, starts)
    right = torch.where(cuts.stop <= lengths[cuts.owner] - window, cuts.stop, starts)
    result = prefix.new_empty(len(cuts.owner), prefix.shape[2])
    for first in range(0, len(result), CHUNK):
        part = slice(first, first + CHUNK)
        some = Cuts(*(column[part] for column in cuts))
        best = torch.maximum(prefix[some.owner, left[part]], suffix[some.owner, right[part]])
        torch.maximum(best, _across(table, rows, lengths, window, some), out=result[part])
    return result


def _runs(table: Tensor, rows: Tensor, lengths: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """Largest sum of the windows up to each start and from it on, (B, S + 1, filters); the last row is -inf."""
    starts = max(rows.shape[1] - window + 1, 1)
    step = torch.arange(window, device=rows.device)
    bags = rows.unfold(1, window, 1) + step  # (B, S, window)
    sums = F.embedding_bag(bags.flatten(0, 1), table, mode="sum").view(len(rows), starts, -1)
    outside = torch.arange(starts, device=rows.device) + window > lengths[:, None]
    sums = sums.masked_fill_(outside[..., None], -torch.inf)
    prefix, suffix = (sums.new_full((len(rows), starts + 1, sums.shape[2]), -torch.inf) for _ in range(2))
    prefix[:, :starts], suffix[:, :starts] = sums, sums
    for start in range(1, starts):
        torch.maximum(prefix[:, start], prefix[:, start - 1], out=prefix[:, start])
    for start in range(starts - 2, -1, -1):
        torch.maximum(suffix[:, start], suffix[:, start + 1], out=suffix[:, start])
    return prefix, suffix


def _across(table: Tensor, rows: Tensor, lengths: Tensor, window: int, cuts: Cuts) -> Tensor:
    """Largest sum of the windows that span the gap, (C, filters).

    Where fewer do, because the copy begins or ends there, another window of the copy stands in: it counts anyway. A
    copy shorter than the window has a single one, filled up with padding.
    """
    removed = (cuts.stop - cuts.start)[:, None]
    last = (lengths[cuts.owner][:, None] - removed - window).clamp(min=0)
    slots = torch.arange(max(window - 1, 1), device=rows.device)
    starts = torch.minimum((cuts.start[:, None] - window + 1 + slots).clamp(min=0), last)  # (C, slots)
    step = torch.arange(window, device=rows.device)
    place = starts[..., None] + step  # (C, slots, window), in the copy
    place = place + removed[..., None] * (place >= cuts.start[:, None, None])
    bags = rows[cuts.owner[:, None, None], place] + step
    sums = F.embedding_bag(bags.flatten(0, 1), table, mode="sum")
    return sums.view(len(starts), len(slots), -1).amax(1)
