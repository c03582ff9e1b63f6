"""BAT: attention beside convolutions, feed-forward beside a weighted residual
(arxiv.org/abs/2206.07264). Takes tokens.

Attention tournament (ATS): x + LN(MultiHead(x) + relu(conv1(x)) + relu(conv3(x))), eq. 4.
Feed-forward tournament (FFTS): LN(FFN(x) + relu(W x + b)), section 3.2.3. What reads the same x is
one product: a convolution over three tokens is three linear maps whose answers are moved by a token
and added.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.models.encoders._attention import by_head, full, joined
from tagwright.models.encoders._bat_convolutions import BATConvolutions
from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import TaggingEncoder, glorot, linear


class BAT(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. `norm="pre"` normalizes what
    a tournament reads in place of what eq. 4 and FFTS normalize.
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
        feed: int = 512,
        dropout: float = 0.0,
        norm: Literal["post", "pre"] = "post",
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        super().__init__(
            sizes,
            vectors,
            lambda: BATLayer(hidden, heads, feed, dropout=dropout, norm=norm),
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


class BATLayer(nn.Module):
    """States (B, T, hidden) to (B, T, hidden): both tournaments."""

    def __init__(self, hidden: int, heads: int, feed: int, *, dropout: float, norm: str) -> None:
        super().__init__()
        self.attention = AttentionTournament(hidden, heads)
        self.feed = FeedTournament(hidden, feed, dropout=dropout)
        self.norm = norm
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, inside: Inside) -> Tensor:
        """Dropout falls on what is added to the input, and on the feed-forward network's answer."""
        first, second = self.norms
        if self.norm == "pre":
            states = states + self.dropout(self.attention(first(states), inside))
            return self.feed(second(states))
        states = states + self.dropout(first(self.attention(states, inside)))
        return second(self.feed(states))


class AttentionTournament(nn.Module):
    """MultiHead(x) + relu(conv1(x)) + relu(conv3(x)) of states (B, T, hidden); conv3 takes zeros
    where no token is.
    """

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        # rows: queries, keys, values, conv1, and conv3's taps for the token itself, the one before
        # and the one after
        self.into = nn.Parameter(torch.empty(7 * hidden, hidden))
        # a tap for another token has none: that token may not exist
        self.bias = nn.Parameter(torch.zeros(5 * hidden))
        glorot(self.into[: 4 * hidden], 2 * hidden)
        glorot(self.into[4 * hidden :], 6 * hidden)
        self.out = linear(hidden, hidden)

    def forward(self, states: Tensor, inside: Inside) -> Tensor:
        """(B, T, hidden) -> (B, T, hidden)."""
        hidden = states.shape[-1]
        products = F.linear(states, self.into, F.pad(self.bias, (0, 2 * hidden)))
        *asked, taps = products.split([hidden, hidden, hidden, 4 * hidden], -1)
        query, key, value = (by_head(part, self.heads) for part in asked)
        mixed = self.out(joined(full(query, key, value, inside)))
        return mixed + BATConvolutions.apply(
            taps, inside.tokens if inside.keys is not None else None
        )


class FeedTournament(nn.Module):
    """FFN(x) + relu(W x + b) of states (B, T, hidden): a residual with weights in place of the
    plain one.
    """

    def __init__(self, hidden: int, feed: int, *, dropout: float) -> None:
        super().__init__()
        self.parts = [feed, hidden]  # rows: the feed-forward network's inner width, the residual
        self.into = nn.Linear(hidden, feed + hidden)
        for block, part in zip(self.into.weight.split(self.parts), self.parts):
            glorot(block, hidden + part)
        nn.init.zeros_(self.into.bias)
        self.out = linear(feed, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, hidden) -> (B, T, hidden)."""
        # two dimensions: of three, a product would copy a part of the columns first
        inner, residual = F.relu(self.into(states.flatten(0, 1)), inplace=True).split(
            self.parts, -1
        )
        return (self.dropout(self.out(inner)) + residual).view_as(states)


PART = BAT
