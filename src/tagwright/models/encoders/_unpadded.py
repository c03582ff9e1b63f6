"""Attention that knows no padding, on a GPU: torch's kernel for texts of any length, one after the
other.

The kernels for padded texts read a mask for every pair of tokens. Here a row of T positions is two
texts, its tokens and what fills it up, so that shapes stay as they are and a captured step can hold
it. It draws dropout, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from tagwright.models.encoders._checkpoint import LibraryModel

NAME = "tagwright_unpadded"
NARROWEST = 128  # positions from which on it is faster: docs/benchmarks.md
# families whose attention adds nothing to the scores, and that hand a mask of four dimensions on as
# it is
FAMILIES = {"bert", "roberta", "xlm-roberta", "electra", "camembert"}


def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    ends: Tensor,
    longest: int,
    dropout: float,
    scale: float,
) -> Tensor:
    """Query, key and value (N, H, D) of texts that end at `ends` (texts + 1,) -> (N, H, D)."""
    sizes = (ends, ends, longest, longest)
    found = torch.ops.aten._flash_attention_forward(
        query, key, value, *sizes, dropout, False, False, scale=scale
    )
    result: Tensor = found[0]
    return result


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    dropout: float = 0.0,
    scaling: float | None = None,
    **others: object,
) -> tuple[Tensor, None]:
    """Query, key and value (B, H, T, D) -> (B, T, H, D); what comes in the mask's place are the
    ends.
    """
    batch, _, width, depth = query.shape
    queries, keys, values = (states.transpose(1, 2).flatten(0, 1) for states in (query, key, value))
    scale = depth**-0.5 if scaling is None else scaling
    found = flash(queries, keys, values, attention_mask.flatten(), width, dropout, scale)
    return found.unflatten(0, (batch, width)), None


def register() -> None:
    """Make it known to transformers under `NAME`."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attention)


def serves(model: LibraryModel, width: int, device: torch.device, *, half: bool) -> bool:
    """Whether it can be used, and pays. Its gradient is not the same bits twice."""
    config = model.config
    known = config.model_type in FAMILIES and config._attn_implementation == "sdpa"
    fast = half and device.type == "cuda" and width >= NARROWEST
    return known and fast and not torch.are_deterministic_algorithms_enabled()


def ends_of(lengths: Tensor, width: int) -> Tensor:
    """Where the texts of rows of `width` positions end: (1, 1, 1, 2B + 1) of int32, in the place of
    a mask.

    >>> ends_of(torch.tensor([2, 3]), 3).flatten().tolist()
    [0, 2, 3, 6, 6]
    """
    row = torch.arange(len(lengths), device=lengths.device) * width
    ends = torch.stack([row + lengths.clamp(max=width), row + width], 1).flatten()
    return torch.nn.functional.pad(ends, (1, 0)).to(torch.int32)[None, None, None]


@contextmanager
def unpadded(model: LibraryModel) -> Iterator[None]:
    """The model's attention is this one inside the block."""
    before, model.config._attn_implementation = model.config._attn_implementation, NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before
