"""A linear layer over sparse rows: logits = X W + b, and a weight gradient that holds only the rows
the batch touched.

A batch of B texts with N non-zero features moves N * L floats forward and as many back, whatever
the width d.
"""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tagwright.batches.sparse import SparseRows
from tagwright.errors import ShapeError
from tagwright.loss_math.context import Context


class SparseLinear(nn.Module):
    """SparseRows of B texts -> logits (B, L). Starts at zero: a convex loss needs no random start.

    `weight` is (d, L), one row a feature, and its gradient is a sparse tensor of the touched rows,
    ascending.
    """

    def __init__(self, width: int, label_count: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width, label_count))
        self.bias = nn.Parameter(torch.zeros(label_count))

    def forward(self, rows: SparseRows) -> Tensor:
        """Logits (B, L); a row without features gets the bias."""
        if rows.ids.dtype != torch.int64 or rows.values.dtype != self.weight.dtype:
            expected = f"int64 ids and {self.weight.dtype} values"
            raise ShapeError(
                f"sparse rows want {expected}, got {rows.ids.dtype} and {rows.values.dtype}; use"
                " SparseRows.of"
            )
        return _SparseProduct.apply(self.weight, rows.ids, rows.values, rows.offsets) + self.bias


class _Product(Context, Protocol):
    shape: torch.Size
    saved_tensors: tuple[Tensor, Tensor, Tensor]


class _SparseProduct(torch.autograd.Function):
    """X W for sparse X; only W is differentiated."""

    @staticmethod
    def forward(
        ctx: _Product, weight: Tensor, ids: Tensor, values: Tensor, offsets: Tensor
    ) -> Tensor:
        ctx.save_for_backward(ids, values, offsets)
        ctx.shape = weight.shape
        return _bag(weight, ids, values, offsets)

    @staticmethod
    def backward(ctx: _Product, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        columns, rows = transposed(SparseRows(*ctx.saved_tensors))
        touched = _bag(gradient.contiguous(), rows.ids, rows.values, rows.offsets)  # (columns, L)
        sparse = torch.sparse_coo_tensor(
            columns[None], touched, ctx.shape, check_invariants=False, is_coalesced=True
        )
        return sparse, None, None, None


def transposed(rows: SparseRows) -> tuple[Tensor, SparseRows]:
    """The columns in use, ascending (C,), and for each of them the batch rows that use it,
    ascending.
    """
    ids, order = torch.sort(rows.ids, stable=True)
    columns, counts = torch.unique_consecutive(ids, return_counts=True)
    owners = torch.repeat_interleave(
        torch.arange(len(rows.offsets) - 1, device=ids.device), rows.offsets.diff()
    )
    offsets = F.pad(counts.cumsum(0), (1, 0))
    return columns, SparseRows(owners[order], rows.values[order], offsets)


def _bag(table: Tensor, ids: Tensor, values: Tensor, offsets: Tensor) -> Tensor:
    with torch.no_grad():
        return F.embedding_bag(
            ids, table, offsets, mode="sum", per_sample_weights=values, include_last_offset=True
        )
