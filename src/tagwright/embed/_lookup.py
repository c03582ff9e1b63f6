"""Ids to vectors: a table for each feature channel, summed."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from tagwright.errors import SettingsError, ShapeError


class Lookup(nn.Module):
    """Look up ids (B, T), or (B, T, F) for F channels, and sum the channels: (B, T, width).

    `sizes` has the ids of each channel; id 0 is padding: its vector stays zero and gets no gradient. `vectors`
    (sizes[0], width) starts a lone channel from given word vectors, which `freeze` holds as they are. With `sparse`
    the gradient holds only the rows of the batch, for an optimiser that takes such gradients.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        *,
        width: int = 128,
        vectors: np.ndarray | None = None,
        freeze: bool = False,
        sparse: bool = False,
    ) -> None:
        super().__init__()
        self.sizes = sizes
        self.tables = nn.ModuleList(nn.Embedding(size, width, padding_idx=0, sparse=sparse) for size in sizes)
        for table in self.tables:
            # the sum of F channels has variance 1 / width, so that a row's norm is about 1 at any width
            nn.init.normal_(table.weight, std=1 / math.sqrt(width * len(sizes)))
        if freeze and vectors is None:
            raise SettingsError("freeze holds given vectors as they are, but there are none; set vectors or freeze=False")
        if vectors is not None:
            self._start_from(vectors, width)
        for table in self.tables:
            table.weight.data[0] = 0
            table.weight.requires_grad_(not freeze)

    def _start_from(self, vectors: np.ndarray, width: int) -> None:
        if len(self.sizes) != 1 or vectors.shape != (self.sizes[0], width):
            expected = " or ".join(f"({size}, {width})" for size in self.sizes)
            raise SettingsError(
                f"vectors go with one channel of shape {expected}, got {vectors.shape} for {len(self.sizes)} channel(s); "
                "set width to the width of the vectors and use the word vocabulary they were read for"
            )
        self.tables[0].weight.data.copy_(torch.from_numpy(np.ascontiguousarray(vectors, np.float32)))

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) or (B, T, F) int64 -> (B, T, width)."""
        if len(self.sizes) == 1 and ids.dim() == 2:
            return self.tables[0](ids)
        if ids.dim() != 3 or ids.shape[2] != len(self.sizes):
            raise ShapeError(f"ids must be (B, T, {len(self.sizes)}), got {tuple(ids.shape)}; use the tokeniser of this model")
        return sum((table(ids[..., i]) for i, table in enumerate(self.tables)), start=ids.new_zeros((), dtype=torch.float32))
