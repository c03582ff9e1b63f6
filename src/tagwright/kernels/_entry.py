"""How a kernel is launched: its kind, its own function, and the shape of its work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor

from tagwright.kernels._launch import Kernel, launch
from tagwright.kernels._softmax import softmax_rows
from tagwright.kernels._sums import sum_rows
from tagwright.kernels._terms import term_rows

# listed cells at a time: a warp's worth, so that looking through them needs no shared memory
WINDOW = 32


class KernelCells(NamedTuple):
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


class KernelOutput(NamedTuple):
    """What a kernel writes into, None where nothing is asked for."""

    values: Tensor | None  # (B,), or of Softmax with a total (programs,)
    logs: Tensor | None  # (2, B), of Sums alone
    gradient: Tensor | None  # (B, L)


class Work(NamedTuple):
    """One launch: from which cells, with which options and factors, into what. The first of the
    labels is `origin`.
    """

    cells: KernelCells
    options: Sequence[float | None]
    upstream: Tensor | None  # (B,)
    scale: float
    answer: KernelOutput
    origin: int = 0
    add: bool = False  # to what stands in the answer

    def arguments(self) -> tuple[object, ...]:
        """In the order in which every kernel takes them."""
        cells, logits = self.cells, self.cells.logits
        a, b, c = (*self.options, None, None, None)[:3]
        return (
            *logits.shape, self.origin, logits, logits.stride(0),
            cells.target, 0 if cells.target is None else cells.target.stride(0),
            cells.ids, cells.offsets, cells.soft, cells.background,
            cells.mask, 0 if cells.mask is None else cells.mask.stride(0),
            cells.off_ids, cells.off_offsets, *_strided(cells.positive), *_strided(cells.negative),
            a, b, c, self.upstream, self.scale, *self.answer,
        )  # fmt: skip


class Chosen(Protocol):
    """Chooses a function of Triton's by the options."""

    def __call__(self, *options: float | None) -> object:
        """The function."""


@dataclass(frozen=True)
class TermsKernel:
    """A sum of terms. `form` chooses by the options the function of (s, *options) that serves.

    That gives value and slope of a gold label, then of another.
    """

    form: Chosen
    options: tuple[str, ...] = ()
    logs = False

    def launch(self, work: Work) -> None:
        """Fill the answer."""
        block = min(2048, max(128, _power(work.cells.logits.shape[1])))
        _launch_rows(term_rows, work, self.form(*work.options), False, block, max(1, block // 256))


@dataclass(frozen=True)
class SumsKernel:
    """Two sums: `form(gold, other)` makes of their logs the value and its derivatives; `pairs`
    where it adds them.
    """

    form: object
    options: tuple[str, ...] = ()
    pairs: bool = False
    logs = True

    def launch(self, work: Work) -> None:
        """Fill the answer."""
        twice = work.answer.values is not None and work.answer.gradient is not None
        block = min(8192 if twice else 1024, max(128, _power(work.cells.logits.shape[1])))
        # no threshold: nothing to subtract
        work = work._replace(options=[option or None for option in work.options])
        _launch_rows(
            sum_rows, work, self.form, self.pairs, block, max(1, block // (256 if twice else 512))
        )


def _launch_rows(
    kernel: Kernel, work: Work, form: object, pairs: bool, block: int, warps: int
) -> None:
    """A program a row."""
    rows, labels = work.cells.logits.shape
    constants = {
        "FORM": form,
        "PAIRS": pairs,
        "SOFT": work.cells.target is not None or work.cells.background > 0,
        "ADD": work.add,
        "EVEN": labels % block == 0,
        "BLOCK": block,
        "WINDOW": WINDOW,
    }
    launch(kernel, rows, work.arguments(), constants, warps)


@dataclass(frozen=True)
class SoftmaxKernel:
    """A softmax over few labels."""

    predicted_only: bool
    options: tuple[str, ...] = ("gamma", "positive_scale")
    logs = False

    def programs(self, rows: int, labels: int) -> int:
        """How many programs share the rows: each may give the sum of its own."""
        return -(-rows // _tile(labels)[0])

    def launch(self, work: Work) -> None:
        """Fill the answer."""
        cells, focal = work.cells, work.options[0] != 0
        rows, labels = cells.logits.shape
        tile, block = _tile(labels)
        altered = (cells.soft, cells.mask, cells.off_ids, cells.positive, cells.negative)
        hard = (
            cells.ids is not None and not cells.background and all(one is None for one in altered)
        )
        constants = {
            "FORM": self.predicted_only,
            "FOCAL": focal,
            "TOTAL": work.answer.values is not None and len(work.answer.values) != rows,
            "HARD": hard and not focal,
            "ONE": cells.ids is not None and len(cells.ids) == rows,
            "EVEN": rows % tile == 0 and labels == block,
            "ROWS": tile,
            "BLOCK": block,
        }
        launch(
            softmax_rows,
            self.programs(rows, labels),
            work.arguments(),
            constants,
            1 if tile > 1 else 4,
        )


def _power(count: int) -> int:
    """The next power of 2. Triton's own is a function for kernels, and takes 20 µs."""
    return 1 << (count - 1).bit_length()


def _tile(labels: int) -> tuple[int, int]:
    block = max(16, _power(labels))
    return max(1, 512 // block), block


def _strided(weight: Tensor | None) -> tuple[Tensor | None, int, int]:
    """A weight and how far it is to the next row and to the next label: 0 where it is one for all
    of them.
    """
    if weight is None:
        return None, 0, 0
    row = weight.stride(0) if weight.ndim == 2 and weight.shape[0] > 1 else 0
    return weight, row, weight.stride(-1) if weight.ndim and weight.shape[-1] > 1 else 0
