"""Switch Transformer: one of several feed-forward networks a token (Fedus et al. 2021,
arxiv.org/abs/2101.03961).

Takes tokens. No expert has a capacity, so no token is dropped, in training neither: all experts
stand in one product, and what was not chosen is zeroed. That costs as much as a dense network of
all of them, which at the few and narrow experts that have the weights of one network is less than
sorting tokens. The load-balancing loss (eq. 4) is left out.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.models.encoders._attention import Attention
from tagwright.models.encoders._layer import Layer
from tagwright.models.encoders._tagging_encoder import TaggingEncoder, glorot


class Switch(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. Each of the `experts` has the
    inner width `feed`; the defaults make as many weights as `bat` has.
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
        feed: int = 416,
        experts: int = 2,
        dropout: float = 0.0,
        norm: Literal["post", "pre"] = "post",
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        super().__init__(
            sizes,
            vectors,
            lambda: Layer(
                Attention(hidden, heads),
                Experts(hidden, feed, experts),
                hidden=hidden,
                dropout=dropout,
                norm=norm,
            ),
            width=width,
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed=feed,
            dropout=dropout,
            norm=norm,
            pooling=pooling,
            freeze=freeze,
            counts={"experts": experts},
        )


class Experts(nn.Module):
    """Each token to the expert its router likes best, whose answer is scaled by its probability,
    eq. 1 and 2.
    """

    def __init__(self, hidden: int, feed: int, experts: int) -> None:
        super().__init__()
        self.experts = experts
        self.router = nn.Linear(hidden, experts, bias=False)
        self.into = nn.Linear(hidden, experts * feed)
        self.out = nn.Linear(experts * feed, hidden, bias=False)
        self.bias = nn.Parameter(torch.zeros(experts, hidden))  # of each expert's answer
        glorot(self.router.weight, hidden + experts)
        for layer in (self.into, self.out):
            glorot(layer.weight, hidden + feed)
        nn.init.zeros_(self.into.bias)

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, hidden) -> (B, T, hidden)."""
        chances = self.router(states).softmax(-1)  # (B, T, experts)
        best = chances.argmax(-1, keepdim=True)
        gates = chances * torch.zeros_like(chances).scatter_(-1, best, 1)
        inner = F.relu(self.into(states)).unflatten(-1, (self.experts, -1)) * gates[..., None]
        return self.out(inner.flatten(-2)) + gates @ self.bias


PART = Switch
