"""The Transformer's encoder (Vaswani et al. 2017, arxiv.org/abs/1706.03762). Takes tokens."""

from typing import Literal

from tagwright.arrays import Floats
from tagwright.models.encoders._attention import Attention
from tagwright.models.encoders._layer import FeedForward, Layer
from tagwright.models.encoders._tagging_encoder import TaggingEncoder


class Transformer(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. `feed` is the inner width of
    the feed-forward network; its default makes as many weights as `bat` has.
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
        norm: Literal["post", "pre"] = "post",
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        super().__init__(
            sizes,
            vectors,
            lambda: Layer(
                Attention(hidden, heads),
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
        )


PART = Transformer
