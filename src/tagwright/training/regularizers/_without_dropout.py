"""A network that draws nothing, and one whose weights are given: so that of two passes only the
words differ.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def without_dropout(network: nn.Module) -> Iterator[None]:
    """No dropout falls inside the block; gradients can be asked for all the same.

    cuDNN makes no gradient of a recurrent network that does not train, so that it goes on training,
    without dropout.
    """
    modes = [(part, part.training) for part in network.modules()]
    drawn = [(part, part.dropout) for part, _ in modes if isinstance(part, nn.RNNBase)]
    network.eval()
    for part, _ in drawn:
        part.training, part.dropout = True, 0.0
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        for part, share in drawn:
            part.dropout = share


@contextmanager
def with_weights(network: nn.Module) -> Iterator[None]:
    """No gradient of a weight is made inside the block, nor what it would need be kept."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    for parameter in trained:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in trained:
            parameter.requires_grad_(True)
