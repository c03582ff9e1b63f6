"""Bidirectional LSTM (Hochreiter and Schmidhuber 1997; Graves 2005) with pooling over the states.
Takes tokens.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tagwright.arrays import Floats
from tagwright.errors import SettingsError, unknown
from tagwright.models.embeddings import Lookup
from tagwright.models.encoders import Encoder
from tagwright.models.hidden import Hidden


class LSTM(Encoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, 2 x hidden) and their `max` or
    `mean` as pooled.

    States past a text's length are zero; an empty text pools to zero. Padding changes nothing.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        vectors: Floats | None = None,
        *,
        width: int = 128,
        hidden: int = 128,
        layers: int = 1,
        dropout: float = 0.5,
        pooling: Literal["max", "mean"] = "max",
        freeze: bool = False,
    ) -> None:
        super().__init__()
        if pooling not in ("max", "mean"):
            raise SettingsError(unknown("pooling", pooling, ["max", "mean"]))
        self.pooling = pooling
        self.width_out = 2 * hidden
        self.lookup = Lookup(sizes, width=width, vectors=vectors, freeze=freeze)
        between = dropout if layers > 1 else 0.0  # torch warns where there is no between
        self.lstm = nn.LSTM(
            width, hidden, layers, batch_first=True, bidirectional=True, dropout=between
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, lengths: Tensor) -> Hidden:
        """Run both directions over each text alone, then pool its states."""
        # a pack takes no empty text: it gets one step, which the mask below takes away
        packed = pack_padded_sequence(
            self.lookup(ids), lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=ids.shape[1]
        )
        outside = torch.arange(ids.shape[1], device=ids.device) >= lengths[:, None]
        states = self.dropout(states.masked_fill(outside[..., None], 0))
        return Hidden(states, self._pool(states, outside, lengths))

    def _pool(self, states: Tensor, outside: Tensor, lengths: Tensor) -> Tensor:
        if self.pooling == "mean":
            return states.sum(1) / lengths.clamp(min=1)[:, None]
        best = states.masked_fill(outside[..., None], -math.inf).amax(1)
        return best.masked_fill((lengths == 0)[:, None], 0)


PART = LSTM
