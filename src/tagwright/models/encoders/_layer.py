"""A layer of the Transformer's encoder (Vaswani et al. 2017, section 3.1): attention, then a
feed-forward network.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import linear


class Layer(nn.Module):
    """States (B, T, hidden) to (B, T, hidden): each part is added to what it read.

    `norm="post"` normalizes the sum, "pre" what the part reads. Dropout falls on what a part adds.
    """

    def __init__(
        self, attention: nn.Module, feed: nn.Module, *, hidden: int, dropout: float, norm: str
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed = feed
        self.norm = norm
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, inside: Inside) -> Tensor:
        """Padding is not seen by attention, and the feed-forward network sees one token at a
        time.
        """
        first, second = self.norms
        if self.norm == "pre":
            states = states + self.dropout(self.attention(first(states), inside))
            return states + self.dropout(self.feed(second(states)))
        states = first(states + self.dropout(self.attention(states, inside)))
        return second(states + self.dropout(self.feed(states)))


class FeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2 for each token, eq. 2 of the paper."""

    def __init__(self, hidden: int, feed: int) -> None:
        super().__init__()
        self.into = linear(hidden, feed)
        self.out = linear(feed, hidden)

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, hidden) -> (B, T, hidden)."""
        return self.out(F.relu(self.into(states)))
