"""Training rows on the device, once: a batch is gathered there, from row numbers, in one of few
shapes.
"""

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.batches.rows import Batch, HeadBatch, HeadRows, Rows

# tokens of a batch; beyond, the next multiple of 128
WIDTHS = (
    8,
    16,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    256,
    384,
    512,
)
_AT_ONCE = 4096  # rows that are laid out together


class Resident:
    """Rows of tokens on a device, ids one row after the other, and what each head learns of
    them.
    """

    def __init__(self, rows: Rows, device: torch.device) -> None:
        ids, self.row_lengths = _laid_out(rows)
        starts = np.cumsum(self.row_lengths) - self.row_lengths
        self.ids, self.starts, self.lengths = (
            torch.from_numpy(one).to(device) for one in (ids, starts, self.row_lengths)
        )
        longest = -(-int(self.row_lengths.max(initial=1)) // 8) * 8
        self.limit = min(rows.inputs.limit, longest)  # type: ignore[attr-defined]
        self.heads = {name: _OnDevice(head, device) for name, head in rows.heads.items()}
        self.weight = None if rows.weight is None else torch.from_numpy(rows.weight).to(device)
        self.sizes = (
            None
            if rows.sizes is None
            else torch.from_numpy(rows.sizes.astype(np.float32)).to(device)
        )

    def size_of(self, rows: Tensor, real: Tensor) -> Tensor:
        """What a mean over these rows divides by, ()."""
        return real.sum() if self.sizes is None else (real * self.sizes[rows]).sum().clamp_min(1.0)

    def width_of(self, index: Ints) -> int:
        """The number of tokens that a batch of these rows is laid out in; the longest row of all
        bounds it.
        """
        longest = int(self.row_lengths[index].max(initial=1))
        width = next((width for width in WIDTHS if width >= longest), -(-longest // 128) * 128)
        return min(width, self.limit)

    @property
    def widest(self) -> int:
        """The width of the batch that holds the longest row."""
        return self.width_of(np.arange(len(self.row_lengths)))

    def batch(self, rows: Tensor, real: Tensor, width: int) -> Batch:
        """Rows (B,), of which those where `real` (B,) is 0 only fill the shape: they weigh nothing.

        The host learns nothing of the device here, and the device nothing of the host: it can be
        captured.
        """
        positions = torch.arange(width, device=rows.device)
        # a trial of a narrow shape may be made of long rows, and an encoder may rely on lengths
        lengths = self.lengths[rows].clamp_max(width)
        inside = positions < lengths[:, None]
        places = (self.starts[rows][:, None] + positions).clamp_max(len(self.ids) - 1)
        ids = self.ids[places].long() * (inside if self.ids.ndim == 1 else inside[..., None])
        weight = real if self.weight is None else real * self.weight[rows]
        heads = {
            name: head.batch(rows, weight, places, inside) for name, head in self.heads.items()
        }
        return Batch((ids, lengths), heads, weight)


class _OnDevice:
    """What a head learns of all rows, on a device: targets (n, L), as bytes where they are 0 or
    1.
    """

    def __init__(self, head: HeadRows, device: torch.device) -> None:
        dense = head.target.toarray()
        self.target = torch.from_numpy(dense.astype(np.uint8) if _hard(head) else dense).to(device)
        self.known = (
            None
            if head.unknown is None
            else torch.from_numpy(head.unknown.toarray() == 0).to(device)
        )
        soft = head.soft
        if soft is not None and not isinstance(soft, np.ndarray):
            soft = soft.toarray()
        self.soft = None if soft is None else torch.from_numpy(soft).to(device)
        self.excused = (
            None if head.excused is None else torch.from_numpy(head.excused.toarray()).to(device)
        )
        self.tags = (
            None if head.tags is None else torch.from_numpy(head.tags.astype(np.int16)).to(device)
        )
        labelled = (
            None if head.labelled is None else torch.from_numpy(head.labelled.astype(np.float32))
        )
        self.labelled = None if labelled is None else labelled.to(device)

    def batch(self, rows: Tensor, weight: Tensor, places: Tensor, inside: Tensor) -> HeadBatch:
        """Rows (B,) of this weight (B,); `places` (B, T) are their positions among all, which are
        theirs `inside`.
        """
        weight = weight if self.labelled is None else weight * self.labelled[rows]
        known = None if self.known is None else self.known[rows]
        soft = None if self.soft is None else self.soft[rows]
        excused = None if self.excused is None else self.excused[rows]
        tags = None if self.tags is None else self.tags[places].long().masked_fill(~inside, -1)
        return HeadBatch(self.target[rows].float(), known, weight, soft, excused, tags)


def resident_bytes(rows: Rows) -> int:
    """What the rows would take of a device."""
    positions = 4 + 2 * sum(head.tags is not None for head in rows.heads.values())
    return positions * int(rows.inputs.lengths.sum()) + sum(map(_bytes, rows.heads.values()))


def _bytes(head: HeadRows) -> int:
    each = (1 if _hard(head) else 4) + 4 * (head.soft is not None)
    each += (head.unknown is not None) + (head.excused is not None)
    return int(head.target.shape[0] * head.target.shape[1] * each)


def _hard(head: HeadRows) -> bool:
    """Whether every cell of the targets is 0 or 1."""
    return bool(np.isin(head.target.data, (0, 1)).all())


def one_row_a_text(rows: Rows) -> bool:
    """Whether each text is one row of tokens: not features, not windows."""
    return rows.inputs.row_a_text


def _laid_out(rows: Rows) -> tuple[Ints, Ints]:
    """All rows as the encoder would see them: ids one after the other, int32 (N,) or (N, F), and
    lengths (n,).
    """
    count, pieces, lengths = len(rows.inputs.lengths), [], []
    for start in range(0, count, _AT_ONCE):
        ids, own = (
            one.numpy() for one in rows.inputs.batch(np.arange(start, min(start + _AT_ONCE, count)))
        )
        pieces.append(ids[np.arange(ids.shape[1]) < own[:, None]].astype(np.int32))
        lengths.append(own)
    ids = np.concatenate(pieces)
    return (ids if len(ids) else np.zeros((1, *ids.shape[1:]), np.int32)), np.concatenate(lengths)
