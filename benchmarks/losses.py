"""Losses on a CPU: forward and backward beside torch's binary cross-entropy, and pairs beside their
broadcast form.

    python benchmarks/losses.py                  # both tables
    python benchmarks/losses.py --pairs 2  # the broadcast form on 2 rows: 32 want 40 GB

A row of the first table is the median of rounds in which the loss and the reference take turns, so
that a disturbance hits both. Memory is the peak of a process of its own, less what it held before
(Linux).
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from tagwright import losses

SHAPES = ((256, 618), (64, 100_000))
ROW_LOSSES = (
    "bce",
    "focal",
    "zlpr",
    "lsep",
    "bpmll",
    "asymmetric",
    "dice",
    "cross_entropy",
    "cecl",
)
PAIR_SHAPE, GOLD = (32, 8192), 10


def batch(rows: int, labels: int, gold: int) -> tuple[Tensor, Tensor]:
    """Logits that want a gradient and `gold` labels a row."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(rows, labels, generator=generator).requires_grad_()
    chosen = torch.rand(rows, labels, generator=generator).topk(gold, dim=1).indices
    return logits, torch.zeros(rows, labels).scatter_(1, chosen, 1.0)


def step_of(
    function: Callable[[Tensor, Tensor], Tensor], logits: Tensor, target: Tensor
) -> Callable[[], None]:
    """One forward and backward pass."""

    def step() -> None:
        logits.grad = None
        function(logits, target).mean().backward()

    return step


def milliseconds(step: Callable[[], None]) -> float:
    """Of one call."""
    started = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - started)


def row_table(rounds: int) -> None:
    """Every loss beside the reference."""
    print("| B × L | loss | ms | reference ms | ratio |\n|---|---|---|---|---|")
    for rows, labels in SHAPES:
        logits, target = batch(rows, labels, 5)
        reference = step_of(F.binary_cross_entropy_with_logits, logits, target)
        for name in ROW_LOSSES:
            own = step_of(getattr(losses, name), logits, target)
            for step in (own, reference, own, reference):
                step()
            pairs = [(milliseconds(own), milliseconds(reference)) for _ in range(rounds)]
            ours, theirs = (median(column) for column in zip(*pairs))
            ratio = median(a / b for a, b in pairs)
            print(
                f"| {rows} × {labels} | {name} | {ours:.2f} | {theirs:.2f} | {ratio:.2f} |",
                flush=True,
            )


def broadcast_ranking(logits: Tensor, target: Tensor) -> Tensor:
    """Eq. 22 as it is usually written: every pair of labels of a row."""
    hinges = F.relu(1 + logits[:, None, :] - logits[:, :, None])  # (B, gold, other)
    return (hinges * target[:, :, None] * (1 - target)[:, None, :]).sum((1, 2))


def broadcast_warp(logits: Tensor, target: Tensor) -> Tensor:
    """Eq. 23 the same way."""
    rank = 1 + (logits[:, None, :] > logits[:, :, None]).sum(-1)  # (B, L)
    hinges = F.relu(1 + logits[:, None, :] - logits[:, :, None])
    return (hinges * (rank * target)[:, :, None] * (1 - target)[:, None, :]).sum((1, 2))


PAIRS = {
    "ranking": (losses.ranking, broadcast_ranking),
    "warp": (losses.warp, broadcast_warp),
}


def measure_pairs(name: str, form: str, rows: int) -> None:
    """Print milliseconds and peak gigabytes of one form, in this process."""
    step = step_of(PAIRS[name][form == "broadcast"], *batch(rows, PAIR_SHAPE[1], GOLD))
    torch.zeros(1).requires_grad_().mul(2).backward()  # start-up of autograd is no part of it
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    held = kilobytes("VmRSS")
    rounds = [milliseconds(step) for _ in range(2 if form == "broadcast" else 9)]
    print(min(rounds), (kilobytes("VmHWM") - held) / 2**20)


def kilobytes(field: str) -> int:
    """A figure of this process's memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def pair_table(rows: int) -> None:
    """Sorting beside broadcasting, each in a process of its own."""
    head = "loss | sorted ms a row | broadcast ms a row | ratio | sorted GB | broadcast GB"
    print(f"\n| {head} |\n|---|---|---|---|---|---|")
    for name in PAIRS:
        found = {}
        for form, count in (("sorted", PAIR_SHAPE[0]), ("broadcast", rows)):
            command = [sys.executable, __file__, "--measure", name, form, str(count)]
            answer = subprocess.run(
                command, check=True, capture_output=True, text=True
            ).stdout.split()
            found[form] = float(answer[0]) / count, float(answer[1])
        (ours, small), (theirs, large) = found["sorted"], found["broadcast"]
        figures = f"{ours:.3f} | {theirs:.1f} | {theirs / ours:.0f} | {small:.2f} | {large:.1f}"
        print(f"| {name} | {figures} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument(
        "--pairs", type=int, default=PAIR_SHAPE[0], help="rows of the broadcast form"
    )
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    if options.measure:
        measure_pairs(options.measure[0], options.measure[1], int(options.measure[2]))
        return
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    row_table(options.rounds)
    pair_table(options.pairs)


if __name__ == "__main__":
    main()
