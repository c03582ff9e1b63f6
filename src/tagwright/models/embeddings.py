"""Ids to vectors: a table for each feature channel, summed."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.errors import SettingsError, ShapeError


class Lookup(nn.Module):
    """Look up ids (B, T), or (B, T, F) for F channels, and sum the channels: (B, T, width).

    `sizes` has the ids of each channel; id 0 is padding: its vector stays zero and gets no
    gradient. `vectors` (sizes[0], width) starts a lone channel from given word vectors, which
    `freeze` holds as they are.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        *,
        width: int = 128,
        vectors: Floats | None = None,
        freeze: bool = False,
    ) -> None:
        super().__init__()
        self.sizes = sizes
        # the sum of F channels has variance 1 / width: a row's length is about 1 at any width
        scale = 1 / math.sqrt(width * len(sizes))
        self.tables = nn.ParameterList(torch.randn(size, width) * scale for size in sizes)
        if vectors is not None:
            self._start_from(vectors, width)
        for table in self.tables:
            table.data[0] = 0
            table.requires_grad_(not freeze)

    def _start_from(self, vectors: Floats, width: int) -> None:
        if len(self.sizes) != 1 or vectors.shape != (self.sizes[0], width):
            raise SettingsError(
                f"vectors must go with one channel and have the shape {(self.sizes[0], width)}, got"
                f" {vectors.shape} for {len(self.sizes)} channel(s); use the word vocabulary they"
                " were read for and set width to theirs"
            )
        self.tables[0].data.copy_(torch.from_numpy(np.ascontiguousarray(vectors, np.float32)))

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) or (B, T, F) int64 -> (B, T, width)."""
        channels = ids[..., None] if ids.dim() == 2 else ids
        if channels.dim() != 3 or channels.shape[2] != len(self.sizes):
            expected = "(B, T)" if len(self.sizes) == 1 else f"(B, T, {len(self.sizes)})"
            raise ShapeError(
                f"ids must be {expected}, got {tuple(ids.shape)}; use the tokenizer of this model"
            )
        vectors = self._vectors(channels, 0)
        for channel in range(1, len(self.sizes)):
            vectors = vectors + self._vectors(channels, channel)
        return vectors

    def _vectors(self, channels: Tensor, channel: int) -> Tensor:
        return F.embedding(channels[..., channel], self.tables[channel], padding_idx=0)
