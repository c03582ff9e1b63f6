"""What autograd hands to both passes of a function: one Protocol, to which a function adds what it
keeps.
"""

from typing import Protocol

from torch import Tensor


class Context(Protocol):
    """The `ctx` of a `torch.autograd.Function`. What is kept beside tensors are attributes of its
    own.
    """

    needs_input_grad: tuple[bool, ...]

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for the backward pass, which finds them in `saved_tensors`."""
