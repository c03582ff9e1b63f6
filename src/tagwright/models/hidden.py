"""What every encoder gives to the heads."""

from typing import NamedTuple

import torch
from torch import Tensor


class Windows(NamedTuple):
    """Which rows are windows of one text: the first counts[0] rows are the first text's, and so
    on.
    """

    counts: Tensor  # (B,), each at least 1
    pooling: str  # of their logits: mean or max


class Slots(NamedTuple):
    """Vectors that an encoder reads between a text's first special tokens and its words.

    Where the text is read in several `passes`, each has slots of its own: rows 0 to passes - 1 are
    the first text's. Where the text does not look at slots (`one_way`), one pass has `groups` of
    them, which do not see each other.
    """

    vectors: Tensor  # (B * passes, S, E)
    places: Tensor  # (S,), positions counted from the first slot's
    room: int  # positions that they take: the text goes on behind
    passes: int = 1
    groups: int = 1
    one_way: bool = False


class Hidden(NamedTuple):
    """One vector a text, and one a token where the encoder has them; with `windows` one a window of
    a text.
    """

    states: Tensor | None  # (B, T, D)
    pooled: Tensor  # (B, D)
    windows: Windows | None = None
    slots: Tensor | None = None  # (B * passes, S, D)


def over_windows(logits: Tensor, windows: Windows) -> Tensor:
    """Logits of windows (W, L) -> logits of texts (B, L): the mean or the largest of each text's
    windows.

    >>> windows = Windows(torch.tensor([2, 1]), "mean")
    >>> over_windows(torch.tensor([[1.0], [3.0], [5.0]]), windows).tolist()
    [[2.0], [5.0]]
    """
    count = len(windows.counts)
    # the output's size is known, so that a device need not be asked for the sum of the counts
    owners = torch.arange(count, device=logits.device).repeat_interleave(
        windows.counts, output_size=len(logits)
    )
    if windows.pooling == "max":
        empty = logits.new_full((count, logits.shape[1]), -torch.inf)
        return empty.scatter_reduce(0, owners[:, None].expand_as(logits), logits, "amax")
    sums = logits.new_zeros(count, logits.shape[1]).index_add(0, owners, logits)
    return sums / windows.counts[:, None]
