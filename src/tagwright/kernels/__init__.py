"""The losses on a GPU, fused: one file, one loss. The mathematics stands in `losses`; these are its
fast form.

A loss takes its kernel by itself where the logits lie on a GPU and Triton is there. The rest is the
plain form's: float64, torch.func, learnt thresholds and weights.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tagwright.loss_math.check import eager
from tagwright.loss_math.sparse import SparseMask, SparseTarget

if TYPE_CHECKING:
    from tagwright.kernels import _chunks

NAMES = frozenset(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
TRITON = find_spec("triton") is not None
DTYPES = (torch.float32, torch.bfloat16, torch.float16)

_everywhere = False


@contextmanager
def everywhere() -> Iterator[None]:
    """Inside, tensors of any device take the kernels: for tests by Triton's interpreter
    (TRITON_INTERPRET=1).
    """
    global _everywhere
    before, _everywhere = _everywhere, True
    try:
        yield
    finally:
        _everywhere = before


def serves(
    name: str, logits: Tensor, fixed: Iterable[Tensor | None], options: Mapping[str, object]
) -> bool:
    """Whether the kernel of this loss can take the call: options are numbers, and what is `fixed`
    is not learnt.
    """
    if name not in NAMES or not isinstance(logits, Tensor) or not (logits.is_cuda or _everywhere):
        return False
    if logits.ndim != 2 or logits.dtype not in DTYPES or not logits.numel() or not TRITON:
        return False
    if (
        name in ("cecl", "pbp") and logits.shape[1] > 8192
    ):  # a row has to fit into a program's registers
        return False
    for option in options.values():
        if isinstance(option, Tensor):
            return False
    for tensor in fixed:
        if tensor is not None and tensor.requires_grad:
            return False
    return torch.compiler.is_compiling() or eager(logits)


def values(
    plain: Callable[[Tensor], Tensor],
    name: str,
    logits: Tensor,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    weights: Mapping[str, Tensor | None],
    options: Mapping[str, object],
) -> Tensor:
    """The loss of every row, (B,) float32.

    `plain(logits)` is the same without kernels: a gradient with a graph of its own is made of it.
    """
    # they load Triton: who has no GPU does without
    from tagwright.kernels import _calls, _operators

    call = _calls.call_of(name, logits, target, mask, weights, options)
    if torch.compiler.is_compiling():
        return _operators.values(logits, call.name, call.options, *call.cells[1:])[0]
    if _to_learn(logits):
        return _calls.Values.apply(logits, call, plain)
    return call.run().values  # type: ignore[return-value]


def reduced(
    plain: Callable[[Tensor], Tensor],
    name: str,
    logits: Tensor,
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    weights: Mapping[str, Tensor | None],
    options: Mapping[str, object],
    row_weight: Tensor | None,
    scale: float,
) -> Tensor:
    """The sum of scale * row weight * loss, its gradient made at once."""
    # they load Triton: who has no GPU does without
    from tagwright.kernels import _calls, _operators

    call = _calls.call_of(name, logits, target, mask, weights, options, row_weight, scale)
    if torch.compiler.is_compiling():
        whole = logits, call.name, call.options, call.row_weight, call.scale, *call.cells[1:]
        return _operators.reduced(*whole)[0]
    if _to_learn(logits):
        return _calls.Reduced.apply(logits, call, plain)
    return call.run(total=True).values.sum()  # type: ignore[union-attr]


def sums_of_chunks(
    kind: str,
    zeros: Tensor,
    of_logs: Callable[[Tensor, Tensor], tuple[Tensor, ...]],
    share: float,
    name: str,
    options: dict[str, float],
    target: Tensor | SparseTarget,
    mask: Tensor | SparseMask | None,
    weights: dict[str, Tensor | None],
) -> "_chunks.TermsOfChunks | _chunks.LogSumsOfChunks":
    """What adds up the rows of a loss whose labels come in chunks, and gives their gradients."""
    from tagwright.kernels import _chunks  # it loads Triton

    given = name, options, target, mask, weights

    if kind == "log_sums":
        return _chunks.LogSumsOfChunks(zeros, of_logs, *given)
    return _chunks.TermsOfChunks(zeros, share, *given)


def _to_learn(logits: Tensor) -> bool:
    return logits.requires_grad and torch.is_grad_enabled()
