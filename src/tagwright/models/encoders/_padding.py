"""Which places of a padded batch hold tokens, in the two forms that layers ask for."""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Inside(NamedTuple):
    """The tokens of a batch of B texts, padded to T."""

    lengths: Tensor  # (B,)
    tokens: Tensor  # (B, T), true where a token is
    # (B, 1, 1, T) to add to scores: 0, or -inf at padding; None where no text is padded
    keys: Tensor | None


def inside_of(lengths: Tensor, width: int, *, dtype: torch.dtype) -> Inside:
    """Lengths (B,) of texts padded to `width`.

    >>> inside_of(torch.tensor([2, 0]), 3, dtype=torch.float32).tokens.int().tolist()
    [[1, 1, 0], [0, 0, 0]]
    """
    places = torch.arange(width, device=lengths.device)
    tokens = places < lengths[:, None]
    # what is on the host can be looked at; a GPU would have to be waited for
    if lengths.device.type == "cpu" and bool(tokens.all()):
        return Inside(lengths, tokens, None)
    # an empty text sees its first padding: a softmax over nothing would be NaN
    unseen = places >= lengths.clamp(min=1)[:, None]
    keys = torch.zeros(unseen.shape, dtype=dtype, device=lengths.device).masked_fill_(
        unseen, -math.inf
    )
    return Inside(lengths, tokens, keys[:, None, None])
