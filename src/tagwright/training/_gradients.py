"""Adds up gradients over processes, so that every one takes the same step."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from tagwright.models.distributed import Ranks

BUCKET = 2**24  # bytes sent at once: few enough to copy, enough to fill the wire


def summed(parameters: Sequence[Tensor], value: float, ranks: Ranks) -> float:
    """Sums the gradients over all processes, in place, and returns the sum of `value`.

    A parameter that one process did not use counts as zeros there; one that none used keeps no
    gradient.
    """
    # over the host, and first: a process that is gone is noticed here, where a GPU would wait for
    # it
    value, *users = ranks.total([value, *(p.grad is not None for p in parameters)])
    used = [parameter for parameter, count in zip(parameters, users) if count]
    for bucket in _buckets([_gradient(parameter) for parameter in used]):
        flat = torch.cat([gradient.reshape(-1) for gradient in bucket])
        ranks.add(flat)
        for gradient, part in zip(bucket, flat.split([gradient.numel() for gradient in bucket])):
            gradient.copy_(part.view_as(gradient))
    return value


def start_of(tensors: Sequence[Tensor]) -> list[int]:
    """A whole number a tensor, of its bits: equal where the tensors are."""
    return [int(_bits(tensor.detach()).sum(dtype=torch.int64)) for tensor in tensors]


def _bits(tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    return tensor.contiguous().view(whole)


def _gradient(parameter: Tensor) -> Tensor:
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def _buckets(gradients: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Neighbors of one type, up to so many bytes; a larger tensor goes alone."""
    bucket: list[Tensor] = []
    size = 0
    for gradient in gradients:
        bytes_more = gradient.numel() * gradient.element_size()
        if bucket and (size + bytes_more > BUCKET or gradient.dtype != bucket[0].dtype):
            yield bucket
            bucket, size = [], 0
        bucket.append(gradient)
        size += bytes_more
    if bucket:
        yield bucket
