"""The word vectors of a batch: how long a text of them is, directions of that shape, and passes
that move them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.errors import SettingsError
from tagwright.models.network import Network

LEAST = 1e-12  # length of a direction; a text without a gradient gets none


def maker_of(network: Network) -> nn.Module:
    """The part of an encoder that makes word vectors (R, T, D) of ids."""
    found = network.encoder.word_vectors()
    if found is None:
        raise SettingsError(
            f"{type(network.encoder).__name__} has no word vectors; take cnn, lstm, bat or a"
            " pretrained encoder"
        )
    return found


class Words:
    """The word vectors (R, T, D) of a batch's inputs, zero behind the texts; rows are texts, or
    windows of them.
    """

    def __init__(self, network: Network, inputs: tuple[Tensor, ...]) -> None:
        ids, lengths = inputs[:2]
        self.network, self.maker = network, maker_of(network)
        inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        with torch.no_grad():
            self.vectors: Tensor = self.maker(ids).masked_fill(~inside[..., None], 0)
        self.inside, self.owners = inside, None
        if len(inputs) > 2:  # windows: the text of each row
            counts = inputs[2]
            texts = torch.arange(len(counts), device=ids.device)
            self.owners = texts.repeat_interleave(counts, output_size=len(ids))

    def lengths(self, vectors: Tensor) -> Tensor:
        """The length of each row's whole text, all its vectors one after the other: (R, T, D) ->
        (R, 1, 1).
        """
        squares = vectors.square().sum((1, 2))
        if self.owners is not None:
            squares = torch.zeros_like(squares).index_add(0, self.owners, squares)[self.owners]
        return squares.sqrt()[:, None, None]

    def drawn(self, generator: torch.Generator) -> Tensor:
        """A direction (R, T, D) for every text, of length 1."""
        like = self.vectors
        found = torch.randn(like.shape, dtype=like.dtype, device=like.device, generator=generator)
        return self.unit(found)

    def unit(self, direction: Tensor) -> Tensor:
        """The same direction inside the texts, of length 1."""
        direction = direction.masked_fill(~self.inside[..., None], 0)
        return direction / self.lengths(direction).clamp_min(LEAST)

    @contextmanager
    def moved(self, shift: Tensor) -> Iterator[None]:
        """Inside the block, passes over these inputs read words that lie apart from their own by
        `shift` (R, T, D).
        """
        encoder = self.network.encoder

        def move(maker: nn.Module, given: tuple[Tensor, ...], vectors: Tensor) -> Tensor:
            # cnn lays all places in one row, each text with some padding behind
            width = vectors.numel() // (len(shift) * shift.shape[2])
            return vectors + F.pad(shift, (0, 0, 0, width - shift.shape[1])).view_as(vectors).to(
                vectors.dtype
            )

        handle, before = self.maker.register_forward_hook(move), encoder.every_place
        encoder.every_place = True
        try:
            yield
        finally:
            handle.remove()
            encoder.every_place = before
