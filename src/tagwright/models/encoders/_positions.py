"""MPNet's relative positions: made where they are needed, for some versions make them on the host,
and a GPU waits; and of places that are given, for slots need not stand one after the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from torch import Tensor, nn


class Positioned(Protocol):
    """MPNet's encoder."""

    places: Tensor | None  # that are given
    relative_attention_bias: nn.Embedding

    def relative_position_bucket(self, offsets: Tensor, *, num_buckets: int) -> Tensor:
        """The bucket of each offset."""

    def compute_position_bias(self, states: Tensor, *given: object, **more: object) -> Tensor:
        """What is added to the scores (B, H, N, N)."""


def placed(encoder: Positioned) -> None:
    """Let an encoder's `compute_position_bias` make its tensors on the device of the states, of
    `places` if given.
    """
    whole = type(encoder)

    def compute_position_bias(
        self: Positioned, states: Tensor, *given: object, **more: object
    ) -> Tensor:
        with states.device:
            if self.places is not None:
                return _bias(self, self.places, len(states))
            return whole.compute_position_bias(self, states, *given, **more)

    own = {"places": None, "compute_position_bias": compute_position_bias}
    encoder.__class__ = type("Placed", (whole,), own)


def _bias(encoder: Positioned, places: Tensor, count: int) -> Tensor:
    """Places (N,) -> what is added to the scores of `count` texts (B, H, N, N)."""
    buckets = encoder.relative_position_bucket(places[None] - places[:, None], num_buckets=32)
    values: Tensor = encoder.relative_attention_bias(buckets).permute(2, 0, 1)[None]
    return values.expand(count, -1, -1, -1).contiguous()


@contextmanager
def at(encoder: Positioned, places: Tensor) -> Iterator[None]:
    """The tokens of every text stand at these places (N,) inside the block."""
    encoder.places = places
    try:
        yield
    finally:
        encoder.places = None
