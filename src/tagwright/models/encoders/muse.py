"""MUSE: attention, convolution and feed-forward side by side (Zhao et al. 2019,
arxiv.org/abs/1911.09483).

Takes tokens. x + Attention(x) + Conv(x) + Pointwise(x); convolution and attention share the values
V. Its kernel at a token is a softmax over taps of a linear map of that token, one a head (Wu et al.
2019, arxiv.org/abs/1901.10430), and kernels of several sizes are mixed by a learnt softmax. One
product reads x, one gives the sum.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.errors import SettingsError
from tagwright.models.encoders._attention import by_head, full, joined
from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import TaggingEncoder, glorot


class MUSE(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. `kernels` are odd sizes of
    windows. The default of `feed` makes as many weights as `bat` has.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        vectors: Floats | None = None,
        *,
        width: int = 128,
        hidden: int = 128,
        layers: int = 4,
        heads: int = 4,
        feed: int = 736,
        kernels: tuple[int, ...] = (3, 15),
        dropout: float = 0.0,
        norm: Literal["post", "pre"] = "post",
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        if not kernels or any(size < 1 or size % 2 == 0 for size in kernels):
            raise SettingsError(
                f"kernels must be one or more odd whole numbers from 1, got {kernels}"
            )
        super().__init__(
            sizes,
            vectors,
            lambda: MUSELayer(hidden, heads, feed, tuple(kernels), dropout=dropout, norm=norm),
            width=width,
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed=feed,
            dropout=dropout,
            norm=norm,
            pooling=pooling,
            freeze=freeze,
        )


class MUSELayer(nn.Module):
    """States (B, T, hidden) to (B, T, hidden), with one residual and one normalization for all
    three parts.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        feed: int,
        kernels: tuple[int, ...],
        *,
        dropout: float,
        norm: str,
    ) -> None:
        super().__init__()
        self.heads, self.kernels, self.order = heads, kernels, norm
        taps = heads * sum(kernels)
        # queries, keys, values, inner width, kernels
        self.parts = [
            hidden,
            hidden,
            hidden,
            feed,
            taps,
        ]
        self.into = nn.Linear(hidden, sum(self.parts))
        self.out = nn.Linear(2 * hidden + feed, hidden)
        self.mixture = nn.Parameter(torch.zeros(len(kernels)))
        for block, part in zip(self.into.weight.split(self.parts), self.parts):
            glorot(block, hidden + part)
        for block, part in zip(
            self.out.weight.split([hidden, hidden, feed], 1), [hidden, hidden, feed]
        ):
            glorot(block, hidden + part)
        for layer in (self.into, self.out):
            nn.init.zeros_(layer.bias)
        self.norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, inside: Inside) -> Tensor:
        """Convolution takes zeros where there is no token."""
        read = self.norm(states) if self.order == "pre" else states
        query, key, value, inner, taps = self.into(read).split(self.parts, -1)
        if inside.keys is not None:
            value = value.masked_fill(~inside.tokens[..., None], 0)
        query, key, value = (by_head(part, self.heads) for part in (query, key, value))
        near = band(self._kernels(taps)) @ value
        far = full(query, key, value, inside)
        together = torch.cat([joined(far), joined(near), F.relu(inner)], -1)
        states = states + self.dropout(self.out(together))
        return states if self.order == "pre" else self.norm(states)

    def _kernels(self, taps: Tensor) -> Tensor:
        """Scores of taps (B, T, heads x sum of sizes) to one kernel a token and head, (B, heads, T,
        largest size).
        """
        widest = max(self.kernels)
        shares = self.mixture.softmax(0)
        mixed = []
        for number, part in enumerate(by_head(taps, self.heads).split(self.kernels, -1)):
            beside = (widest - self.kernels[number]) // 2
            mixed.append(F.pad(part.softmax(-1) * shares[number], (beside, beside)))
        return torch.stack(mixed).sum(0)


def band(kernels: Tensor) -> Tensor:
    """Kernels (..., T, K) to matrices (..., T, T) that apply them: row t has kernel t, its middle
    on the diagonal.

    >>> band(torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])).tolist()
    [[2, 3, 0], [4, 5, 6], [0, 7, 8]]
    """
    count, size = kernels.shape[-2:]
    # rows one longer than the next view's move each next row one place on
    skewed = F.pad(kernels, (0, count)).flatten(-2)[..., : count * (count + size - 1)]
    return skewed.unflatten(-1, (count, -1))[..., size // 2 : size // 2 + count]


PART = MUSE
