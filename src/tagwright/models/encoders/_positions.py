"""MPNet's relative positions: made where they are needed, for some versions make them on the host,
and a GPU waits; and of places that are given, for slots need not stand one after the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


def placed(encoder: nn.Module) -> None:
    """Let an encoder's `compute_position_bias` make its tensors on the device of the states, of
    `places` if given.
    """
    whole: Any = type(encoder)

    class Placed(whole):
        places: Tensor | None = None

        def compute_position_bias(self, states: Tensor, *given: Any, **more: Any) -> Tensor:
            with states.device:
                if self.places is not None:
                    return _bias(self, self.places, len(states))
                result: Tensor = super().compute_position_bias(states, *given, **more)
                return result

    encoder.__class__ = Placed


def _bias(encoder: Any, places: Tensor, count: int) -> Tensor:
    """Places (N,) -> what is added to the scores of `count` texts (B, H, N, N)."""
    buckets = encoder.relative_position_bucket(places[None] - places[:, None], num_buckets=32)
    values: Tensor = encoder.relative_attention_bias(buckets).permute(2, 0, 1)[None]
    return values.expand(count, -1, -1, -1).contiguous()


@contextmanager
def at(encoder: Any, places: Tensor) -> Iterator[None]:
    """The tokens of every text stand at these places (N,) inside the block."""
    encoder.places = places
    try:
        yield
    finally:
        encoder.places = None
