"""Multi-head self-attention (Vaswani et al. 2017, section 3.2, arxiv.org/abs/1706.03762). One
product for q, k, v.
"""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import glorot, linear

# queries, keys and values, each (B, heads, T, hidden / heads), to their answers of the same shape
Mix = Callable[[Tensor, Tensor, Tensor, Inside], Tensor]


class Attention(nn.Module):
    """States (B, T, hidden) to (B, T, hidden); `mix` says how values are mixed, by softmax if not
    told.
    """

    def __init__(self, hidden: int, heads: int, *, mix: Mix | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.mix = mix or full
        self.into = linear(hidden, 3 * hidden)
        glorot(self.into.weight, 2 * hidden)  # three maps of their own
        self.out = linear(hidden, hidden)

    def forward(self, states: Tensor, inside: Inside) -> Tensor:
        """Every token asks all tokens of its text."""
        query, key, value = (by_head(part, self.heads) for part in self.into(states).chunk(3, -1))
        return self.out(joined(self.mix(query, key, value, inside)))


def full(query: Tensor, key: Tensor, value: Tensor, inside: Inside) -> Tensor:
    """Softmax of every score: queries (B, heads, Q, D), keys and values (B, heads, T, D) -> (B,
    heads, Q, D).
    """
    return F.scaled_dot_product_attention(query, key, value, attn_mask=inside.keys)


def by_head(states: Tensor, heads: int) -> Tensor:
    """(B, T, heads x D) -> (B, heads, T, D), a view."""
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def joined(states: Tensor) -> Tensor:
    """(B, heads, T, D) -> (B, T, heads x D)."""
    return states.transpose(1, 2).flatten(2)
