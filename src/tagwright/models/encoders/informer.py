"""Informer: only the queries that stand out attend (Zhou et al. 2021, arxiv.org/abs/2012.07436).
Takes tokens.

ProbSparse self-attention as in algorithm 1: of n tokens, factor x ceil(ln n) queries with the
largest M = max - mean of their scores against as many sampled keys attend to all keys, the others
get the mean of the values. The sample is one key from each of as many stretches of the text, the
same in every pass, so nothing is random. There is no distilling: every token keeps a state.
"""

import math
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from tagwright.arrays import Floats
from tagwright.models.encoders._attention import Attention, full
from tagwright.models.encoders._layer import FeedForward, Layer
from tagwright.models.encoders._padding import Inside
from tagwright.models.encoders._tagging_encoder import TaggingEncoder

GOLDEN = (math.sqrt(5) - 1) / 2  # the fractions of its multiples fill [0, 1) evenly


class Informer(TaggingEncoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to states (B, T, hidden) and their `mean` or `max`
    as pooled.

    States past a text's length are zero; an empty text pools to zero. A larger `factor` lets more
    queries attend. The default of `feed` makes as many weights as `bat` has.
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
        factor: int = 5,
        dropout: float = 0.0,
        norm: Literal["post", "pre"] = "post",
        pooling: Literal["mean", "max"] = "mean",
        freeze: bool = False,
    ) -> None:
        super().__init__(
            sizes,
            vectors,
            lambda: Layer(
                Attention(hidden, heads, mix=partial(prob_sparse, factor=factor)),
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
            counts={"factor": factor},
        )


def prob_sparse(
    query: Tensor, key: Tensor, value: Tensor, inside: Inside, *, factor: int
) -> Tensor:
    """Queries, keys and values (B, heads, T, D) to (B, heads, T, D); where all queries are active
    it is `full`.
    """
    count, heads, width, size = query.shape
    most = min(width, factor * max(math.ceil(math.log(width)), 1))
    wanted = active(inside.lengths, factor)  # (B,), each at most `most`
    with torch.no_grad():
        stands_out = measure(query, key, inside, sampled(inside.lengths, wanted, most), wanted)
        # a stable order: of equal ones the first is taken, whatever the padding
        order = stands_out.sort(dim=-1, descending=True, stable=True).indices[..., :most]
    rows = order[..., None].expand(-1, -1, -1, size)  # (B, heads, most, D)
    answers = full(query.gather(2, rows), key, value, inside)
    tokens = inside.tokens[:, None, :, None]
    mean = (
        value.masked_fill(~tokens, 0).sum(2, keepdim=True)
        / inside.lengths.clamp(min=1)[:, None, None, None]
    )
    # a shorter text has fewer active queries
    spare = torch.arange(most, device=wanted.device) >= wanted[:, None]
    answers = torch.where(spare[:, None, :, None], mean, answers)
    return mean.expand(count, heads, width, size).scatter(2, rows, answers)


def active(lengths: Tensor, factor: int) -> Tensor:
    """How many queries of texts with these lengths attend, (B,): factor x ceil(ln n), from 1 to n;
    1 of an empty text.

    >>> active(torch.tensor([0, 1, 4, 100]), 3).tolist()
    [1, 1, 4, 15]
    """
    tokens = lengths.clamp(min=1)
    return torch.minimum(tokens, tokens.log().ceil().long().clamp(min=1) * factor)


def sampled(lengths: Tensor, wanted: Tensor, most: int) -> Tensor:
    """Places (B, most) of the sampled keys: one in each of `wanted` equal stretches, then the last.

    >>> sampled(torch.tensor([10]), torch.tensor([5]), 5).tolist()
    [[0, 3, 4, 7, 8]]
    """
    numbers = torch.arange(most, device=lengths.device)
    tokens, stretches = lengths.clamp(min=1)[:, None], wanted[:, None]
    starts, ends = (number * tokens // stretches for number in (numbers, numbers + 1))
    within = ((ends - starts) * (numbers * GOLDEN % 1)).long()
    return torch.minimum(starts + within, tokens - 1)


def measure(query: Tensor, key: Tensor, inside: Inside, places: Tensor, wanted: Tensor) -> Tensor:
    """M of each query (B, heads, T), eq. 4 over the sampled keys at `places` (B, S), of which
    `wanted` (B,) count.
    """
    index = places[:, None, :, None].expand(-1, key.shape[1], -1, key.shape[3])
    scores = query @ key.gather(2, index).transpose(-1, -2)  # (B, heads, T, S)
    spare = (torch.arange(places.shape[1], device=places.device) >= wanted[:, None])[:, None, None]
    largest = scores.masked_fill(spare, -math.inf).amax(-1)
    mean = scores.masked_fill(spare, 0).sum(-1) / wanted[:, None, None]
    return (largest - mean).masked_fill(~inside.tokens[:, None], -math.inf)


PART = Informer
