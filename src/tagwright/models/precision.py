"""Whether to compute in bfloat16: on a GPU that has it, on a CPU only where a short timed trial
shows a gain.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor

from tagwright.models.encoders import Encoder

GAIN = 1.15  # a smaller one is not worth the digits
ROUNDS = 7
ROWS, WIDTH, WIDER = 512, 384, 1536


def in_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether products are made in bfloat16 on this device; "auto" tries it out on a CPU, once in a
    process.
    """
    if precision != "auto":
        return precision == "bfloat16"
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and gain() >= GAIN


@cache
def gain() -> float:
    """How many times faster a layer runs in bfloat16 than in float32, forward and backward; best of
    a few rounds.
    """
    with torch.inference_mode(False), torch.enable_grad():
        return _gain()


def settle(
    encoder: Encoder, *, kept: str | None = None, agreed: Callable[[bool], bool] = bool
) -> None:
    """Make an encoder's "auto" what it means here, or what a checkpoint kept: a resumed run must
    not change it.

    Where several processes train, `agreed` makes one answer of theirs.
    """
    if encoder.precision == "auto":
        device = next(encoder.parameters()).device
        found = kept or ("bfloat16" if agreed(in_bfloat16("auto", device)) else "float32")
        encoder.precision = found


@contextmanager
def exactly(encoder: Encoder) -> Iterator[None]:
    """An encoder that computes in bfloat16 takes float32 inside the block."""
    own, encoder.precision = encoder.precision, "float32"
    try:
        yield
    finally:
        encoder.precision = own


def _gain() -> float:
    random = torch.Generator().manual_seed(0)  # not the run's: a trial must not move what it draws
    states, weight = (
        torch.randn(shape, generator=random) for shape in ((ROWS, WIDTH), (WIDER, WIDTH))
    )
    best = {False: float("inf"), True: float("inf")}
    for number in range(ROUNDS + 1):
        for half in best:
            taken = _seconds(states, weight.requires_grad_(), half=half)
            best[half] = min(best[half], taken) if number else taken  # the first round is warm-up
        if best[True] > 2 * best[False]:  # emulated: no need to go on
            break
    return best[False] / best[True]


def _seconds(states: Tensor, weight: Tensor, *, half: bool) -> float:
    started = time.perf_counter()
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        product = torch.nn.functional.linear(states, weight)
    torch.autograd.grad(product, weight, product.detach())
    return time.perf_counter() - started
