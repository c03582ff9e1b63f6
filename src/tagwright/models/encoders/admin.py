"""Admin: a Transformer whose residuals start large enough for deep stacks (Liu et al. 2020,
arxiv.org/abs/2004.08249).

Takes tokens. Each residual has a factor omega a column, x = norm(omega x + f(x)). As in the
authors' code the first is 1, and each next one the root of what the residual and f before it vary
by, found by a pass over random ids.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.models.encoders._attention import Attention
from tagwright.models.encoders._layer import FeedForward
from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import TaggingEncoder

TEXTS, LENGTH = 8, 48  # of the pass that finds omega


class Admin(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. Sums are normalized behind
    each part, always: omega has no meaning otherwise. The default of `feed` makes as many weights
    as `bat` has.
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
        feed: int = 832,
        dropout: float = 0.0,
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        super().__init__(
            sizes,
            vectors,
            lambda: AdminLayer(hidden, heads, feed, dropout=dropout),
            width=width,
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed=feed,
            dropout=dropout,
            pooling=pooling,
            freeze=freeze,
        )
        self._profile(sizes)

    @torch.no_grad()
    def _profile(self, sizes: tuple[int, ...]) -> None:
        """Set every omega from the variances of a pass through the layers as they start."""
        ids = torch.stack(
            [torch.randint(min(1, size - 1), size, (TEXTS, LENGTH)) for size in sizes], -1
        )
        self.eval()  # dropout would add to the variances
        states, inside = self.shell.embed(
            ids if len(sizes) > 1 else ids[..., 0], torch.full((TEXTS,), LENGTH)
        )
        omega = 1.0
        stack = (layer for layer in self.shell.layers if isinstance(layer, AdminLayer))
        for layer in stack:
            states, omega = layer.profile(states, inside, omega)
        self.train()


class AdminLayer(nn.Module):
    """States (B, T, hidden) to (B, T, hidden): attention, then feed-forward, each beside omega
    times its input.
    """

    def __init__(self, hidden: int, heads: int, feed: int, *, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(hidden, heads)
        self.feed = FeedForward(hidden, feed)
        self.omegas = nn.ParameterList(torch.ones(hidden) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, inside: Inside) -> Tensor:
        """The sums are normalized."""
        added = self.dropout(self.attention(states, inside))
        states = self.norms[0](torch.addcmul(added, states, self.omegas[0]))
        added = self.dropout(self.feed(states))
        return self.norms[1](torch.addcmul(added, states, self.omegas[1]))

    def profile(self, states: Tensor, inside: Inside, omega: float) -> tuple[Tensor, float]:
        """What `forward` gives once the first omega is as told and the second follows; and the next
        layer's omega.
        """
        for part in range(2):
            added = self.feed(states) if part else self.attention(states, inside)
            self.omegas[part].fill_(omega)
            kept = states * omega
            states = self.norms[part](kept + added)
            omega = float((kept.var() + added.var()).sqrt())
        return states, omega


PART = Admin
