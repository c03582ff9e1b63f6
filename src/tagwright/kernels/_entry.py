"""How a kernel is launched: its kind, its own function, and the shape of its work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import triton
from torch import Tensor

from tagwright.kernels._launch import launch
from tagwright.kernels._softmax import softmax_rows
from tagwright.kernels._sums import sum_rows
from tagwright.kernels._terms import term_rows

WINDOW = 32  # listed cells at a time: a warp's worth, so that looking through them needs no shared memory


Options = Sequence[float | None]


class Cells(NamedTuple):
    """A call's tensors, as the kernels take them: what is not there is None."""

    logits: Tensor  # (B, L), rows contiguous
    target: Tensor | None = None  # (B, L)
    ids: Tensor | None = None
    offsets: Tensor | None = None
    soft: Tensor | None = None
    background: float = 0.0
    mask: Tensor | None = None  # (B, L)
    off_ids: Tensor | None = None
    off_offsets: Tensor | None = None
    positive: Tensor | None = None  # broadcasts to (B, L)
    negative: Tensor | None = None


class Answer(NamedTuple):
    """What a kernel writes into, None where nothing is asked for."""

    values: Tensor | None  # (B,), or of Softmax with a total (programs,)
    logs: Tensor | None  # (2, B), of Sums alone
    gradient: Tensor | None  # (B, L)


@dataclass(frozen=True)
class Terms:
    """A sum of terms. `form` chooses by the options the function of (s, *options) that serves.

    That gives value and slope of a gold label, then of another.
    """

    form: Callable[..., Any]
    options: tuple[str, ...] = ()
    logs = False

    def launch(
        self,
        cells: Cells,
        options: Options,
        upstream: Tensor | None,
        scale: float,
        answer: Answer,
        origin: int = 0,
        add: bool = False,
    ) -> None:
        """Fill the answer."""
        rows, labels = cells.logits.shape
        block = min(2048, max(128, _power(labels)))
        constants = {
            "FORM": self.form(*options),
            "PAIRS": False,
            "SOFT": cells.target is not None or cells.background > 0,
            "ADD": add,
            "EVEN": labels % block == 0,
            "BLOCK": block,
            "WINDOW": WINDOW,
        }
        launch(
            term_rows,
            rows,
            _arguments(cells, options, upstream, scale, answer, origin),
            constants,
            max(1, block // 256),
        )


@dataclass(frozen=True)
class Sums:
    """Two sums: `form(gold, other)` makes of their logs the value and its derivatives; `pairs` where it adds them."""

    form: Callable[..., Any]
    options: tuple[str, ...] = ()
    pairs: bool = False
    logs = True

    def launch(
        self,
        cells: Cells,
        options: Options,
        upstream: Tensor | None,
        scale: float,
        answer: Answer,
        origin: int = 0,
        add: bool = False,
    ) -> None:
        """Fill the answer."""
        rows, labels = cells.logits.shape
        twice = answer.values is not None and answer.gradient is not None
        block = min(8192 if twice else 1024, max(128, _power(labels)))
        constants = {
            "FORM": self.form,
            "PAIRS": self.pairs,
            "SOFT": cells.target is not None or cells.background > 0,
            "ADD": add,
            "EVEN": labels % block == 0,
            "BLOCK": block,
            "WINDOW": WINDOW,
        }
        options = [option or None for option in options]  # no threshold: nothing to subtract
        arguments = _arguments(cells, options, upstream, scale, answer, origin)
        launch(sum_rows, rows, arguments, constants, max(1, block // (256 if twice else 512)))


@dataclass(frozen=True)
class Softmax:
    """A softmax over few labels."""

    predicted_only: bool
    options: tuple[str, ...] = ("gamma", "positive_scale")
    logs = False

    def programs(self, rows: int, labels: int) -> int:
        """How many programs share the rows: each may give the sum of its own."""
        return triton.cdiv(rows, _tile(labels)[0])

    def launch(
        self,
        cells: Cells,
        options: Options,
        upstream: Tensor | None,
        scale: float,
        answer: Answer,
        origin: int = 0,
        add: bool = False,
    ) -> None:
        """Fill the answer."""
        rows, labels = cells.logits.shape
        tile, block = _tile(labels)
        constants = {
            "FORM": self.predicted_only,
            "FOCAL": options[0] != 0,
            "TOTAL": answer.values is not None and len(answer.values) != rows,
            "EVEN": rows % tile == 0 and labels == block,
            "ROWS": tile,
            "BLOCK": block,
        }
        launch(
            softmax_rows,
            triton.cdiv(rows, tile),
            _arguments(cells, options, upstream, scale, answer, origin),
            constants,
            1 if tile > 1 else 4,
        )


def _power(count: int) -> int:
    """The next power of 2. Triton's own is a function for kernels, and takes 20 µs."""
    return 1 << (count - 1).bit_length()


def _tile(labels: int) -> tuple[int, int]:
    block = max(16, _power(labels))
    return max(1, 512 // block), block


def _arguments(
    cells: Cells, options: Options, upstream: Tensor | None, scale: float, answer: Answer, origin: int = 0
) -> tuple[Any, ...]:
    """In the order in which every kernel takes them."""
    logits = cells.logits
    a, b, c = (*options, None, None, None)[:3]
    return (
        *logits.shape, origin, logits, logits.stride(0),
        cells.target, 0 if cells.target is None else cells.target.stride(0),
        cells.ids, cells.offsets, cells.soft, cells.background,
        cells.mask, 0 if cells.mask is None else cells.mask.stride(0),
        cells.off_ids, cells.off_offsets, *_strided(cells.positive), *_strided(cells.negative),
        a, b, c, upstream, scale, *answer,
    )  # fmt: skip


def _strided(weight: Tensor | None) -> tuple[Tensor | None, int, int]:
    """A weight and how far it is to the next row and to the next label: 0 where it is one for all of them."""
    if weight is None:
        return None, 0, 0
    row = weight.stride(0) if weight.ndim == 2 and weight.shape[0] > 1 else 0
    return weight, row, weight.stride(-1) if weight.ndim and weight.shape[-1] > 1 else 0
