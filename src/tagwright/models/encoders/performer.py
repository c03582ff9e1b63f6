"""Performer: attention by random features (Choromanski et al. 2021, arxiv.org/abs/2009.14794).
Takes tokens.

FAVOR+, linear in the text's length: positive features exp(w x - |x|^2 / 2), lemma 1, whose w are
orthogonal in blocks, section 3.3. They are drawn once and kept with the weights.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.models.encoders._attention import Attention
from tagwright.models.encoders._layer import FeedForward, Layer
from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import TaggingEncoder

# added to every feature, as the authors do: a query far from all keys still has a denominator
FLOOR = 1e-6


class Performer(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. `features` is how many a head
    has: more are nearer to the softmax. The default of `feed` makes as many weights as `bat` has.
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
        features: int = 128,
        dropout: float = 0.0,
        norm: Literal["post", "pre"] = "post",
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        super().__init__(
            sizes,
            vectors,
            lambda: Layer(
                Attention(hidden, heads, mix=RandomFeatures(features, hidden // heads)),
                FeedForward(hidden, feed),
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
            counts={"features": features},
        )


class RandomFeatures(nn.Module):
    """Queries, keys and values (B, heads, T, D) to about the softmax attention of them, (B, heads,
    T, D).
    """

    directions: Tensor  # (features, D)

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.register_buffer("directions", orthogonal(features, width))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, inside: Inside) -> Tensor:
        """Keys meet values before queries do, so no score of a pair is ever made."""
        asked, held = self._exponents(query), self._exponents(key)
        if inside.keys is not None:
            held = held + inside.keys.transpose(-1, -2)
        # the largest exponent cancels in the quotient; of the keys it has to be one number for all
        # tokens of a text
        asked = torch.exp(asked - asked.detach().amax(-1, keepdim=True)) + FLOOR
        held = torch.exp(held - held.detach().amax((-1, -2), keepdim=True)) + FLOOR
        if inside.keys is not None:
            held = held.masked_fill(~inside.tokens[:, None, :, None], 0)
        total = asked @ held.sum(2)[..., None]  # (B, heads, T, 1)
        # an empty text has no keys; its quotient is of no use, but must not be NaN
        return asked @ (held.transpose(-1, -2) @ value) / total.clamp(min=FLOOR**2)

    def _exponents(self, vectors: Tensor) -> Tensor:
        """w x - |x|^2 / 2 of vectors (B, heads, T, D) with x = vector / D^(1/4): (B, heads, T,
        features).
        """
        scaled = vectors * vectors.shape[-1] ** -0.25
        return scaled @ self.directions.T - scaled.square().sum(-1, keepdim=True) / 2


def orthogonal(count: int, width: int) -> Tensor:
    """Random directions (count, width): orthogonal in blocks of `width`, as long as normal ones
    would be.
    """
    blocks = []
    for _ in range(math.ceil(count / width)):
        block, triangle = torch.linalg.qr(torch.randn(width, width))
        # with these signs no direction is preferred
        blocks.append((block * triangle.diagonal().sign()).T)
    lengths = torch.randn(count, width).norm(dim=1, keepdim=True)
    return torch.cat(blocks)[:count] * lengths


PART = Performer
