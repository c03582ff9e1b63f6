"""One batch: token ids of some texts, padded with 0 to the longest of them."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.tokenizers.tokens import Tokens


class Padded(NamedTuple):
    """A batch as encoders take it."""

    ids: Tensor  # int64 (B, T), or (B, T, F)
    lengths: Tensor  # int64 (B,)


def collate(tokens: Tokens, index: Ints, *, limit: int = 512) -> Padded:
    """Pad the texts at `index` to the longest of them, at least 1; of a text over `limit` the head
    is kept.
    """
    starts = tokens.offsets[index]
    lengths = np.minimum(tokens.offsets[np.asarray(index) + 1] - starts, limit)
    positions = np.arange(lengths.max(initial=1))
    inside = positions < lengths[:, None]  # (B, T)
    ids = np.zeros(inside.shape + tokens.ids.shape[1:], np.int64)
    ids[inside] = tokens.ids[(starts[:, None] + positions)[inside]]
    return Padded(torch.from_numpy(ids), torch.from_numpy(lengths))
