"""Targets and masks of few labels out of very many: they name cells, and are never a (B, L)
matrix.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from tagwright.errors import ShapeError


class SparseTarget(NamedTuple):
    """Row i has the labels ids[offsets[i]:offsets[i + 1]], no label twice; every other label has
    the `background`.

    `ids` (N,) and `offsets` (B + 1,) are int64; `values` (N,) are soft targets, 1 where they are
    None.

    >>> SparseTarget(torch.tensor([2, 0]), torch.tensor([0, 1, 2])).dense(3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    ids: Tensor
    offsets: Tensor
    values: Tensor | None = None
    background: float = 0.0

    def dense(self, label_count: int, first: int = 0, last: int | None = None) -> Tensor:
        """Rows `first` to `last` as a float tensor (rows, L); asks the device for nothing."""
        dtype = torch.float32 if self.values is None else self.values.dtype
        values = torch.ones_like(self.ids, dtype=dtype) if self.values is None else self.values
        return _scattered(self.ids, self.offsets, values, self.background, label_count, first, last)


class SparseMask(NamedTuple):
    """Row i leaves out the labels ids[offsets[i]:offsets[i + 1]]; all others take part."""

    ids: Tensor
    offsets: Tensor

    def dense(self, label_count: int, first: int = 0, last: int | None = None) -> Tensor:
        """Rows `first` to `last` as a bool tensor (rows, L), True where a term takes part."""
        values = torch.zeros_like(self.ids, dtype=torch.bool)
        return _scattered(self.ids, self.offsets, values, True, label_count, first, last)


def soft_of(target: Tensor | SparseTarget) -> Tensor | None:
    """The tensor that holds the target's values, if there is one."""
    return target.values if isinstance(target, SparseTarget) else target


def _scattered(
    ids: Tensor,
    offsets: Tensor,
    values: Tensor,
    background: float | bool,
    label_count: int,
    first: int,
    last: int | None,
) -> Tensor:
    rows = (len(offsets) - 1 if last is None else last) - first
    cells = rows * label_count
    owners = (
        torch.searchsorted(offsets, torch.arange(len(ids), device=ids.device), right=True)
        - 1
        - first
    )
    # cells of other rows go to one spare place: leaving them out would ask the device how many
    # there are
    places = torch.where((owners >= 0) & (owners < rows), owners * label_count + ids, cells)
    flat = torch.full((cells + 1,), background, dtype=values.dtype, device=ids.device)
    return flat.scatter(0, places, values)[:cells].view(rows, label_count)


def check_sparse(
    name: str, given: SparseTarget | SparseMask, shape: tuple[int, int], *, values: bool
) -> None:
    """Raise where the tensors do not fit `shape` (B, L); with `values` also look at what they
    hold.
    """
    rows, label_count = shape
    if any(part.dtype != torch.int64 or part.ndim != 1 for part in (given.ids, given.offsets)):
        raise ShapeError(
            f"{name} wants int64 ids (N,) and offsets (B + 1,), got {given.ids.dtype}"
            f" {tuple(given.ids.shape)} and {given.offsets.dtype} {tuple(given.offsets.shape)}"
        )
    if len(given.offsets) != rows + 1:
        raise ShapeError(
            f"{name} must have offsets of {rows} rows, ({rows + 1},), got ({len(given.offsets)},)"
        )
    soft = given.values if isinstance(given, SparseTarget) else None
    if soft is not None and (soft.shape != given.ids.shape or not soft.is_floating_point()):
        raise ShapeError(
            f"values of {name} must be floats (N,), got {soft.dtype} {tuple(soft.shape)}"
        )
    if not values:
        return
    if (
        given.offsets[0] != 0
        or given.offsets[-1] != len(given.ids)
        or (given.offsets.diff() < 0).any()
    ):
        raise ShapeError(
            f"offsets of {name} must rise from 0 to {len(given.ids)}, got"
            f" {given.offsets.tolist()[:8]}…"
        )
    if len(given.ids) and not (given.ids.min() >= 0 and given.ids.max() < label_count):
        raise ShapeError(
            f"ids of {name} must lie in 0 … {label_count - 1}, got {given.ids.min()} to"
            f" {given.ids.max()}"
        )
    cells = (
        torch.repeat_interleave(torch.arange(rows, device=given.ids.device), given.offsets.diff())
        * label_count
        + given.ids
    )
    if len(cells.unique()) != len(cells):
        raise ShapeError(f"{name} names a label twice in one row")
