"""Weights: what a rare label weighs."""

from collections.abc import Callable

from tagwright.registry import Function, Kind, P
from tagwright.weights.label_weights import LabelWeights

__all__ = ["KIND", "LabelWeights", "Weights", "weights"]


class Weights(Function[P, LabelWeights]):
    """A function of the facts that it needs, and of its settings, to `LabelWeights`.

    `exclusive` says that they are only for texts with exactly one label.
    """

    def __init__(self, function: Callable[P, LabelWeights], *, exclusive: bool) -> None:
        super().__init__(function)
        self.exclusive = exclusive


def weights(*, exclusive: bool = False) -> Callable[[Callable[P, LabelWeights]], Weights[P]]:
    """Makes a function a weight."""
    return lambda function: Weights(function, exclusive=exclusive)


KIND = Kind(
    title="weight",
    facts={
        "label_counts": "how many texts of train have each label, (L,)",
        "row_count": "how many texts train has; tokens, where these are tagged",
    },
    base=Weights,
)
