"""One step of a label matrix and its loss, in chunks and with all logits at once: seconds, and the
memory it takes.

    python benchmarks/linear.py --labels 10000 100000 1000000  # each form in a process of its own
    python benchmarks/linear.py --device cuda --dtype bfloat16

Memory is what the step needs beyond the matrix itself: its gradient, and whatever else was there at
the highest moment.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

from tagwright import registry
from tagwright.losses import SparseTarget
from tagwright.models.label_matrix.linear_objective import LinearObjective

GOLD = 5  # labels a text


def step_of(
    form: str, head: LinearObjective, hidden: Tensor, target: SparseTarget
) -> Callable[[], None]:
    """Forward and backward; gradients are forgotten before."""

    def step() -> None:
        head.zero_grad(set_to_none=True)
        value = (
            head(hidden, target)
            if form == "chunks"
            else head.loss(head.logits(hidden).float(), target)
        )
        value.backward()

    return step


def measure(form: str, options: argparse.Namespace, labels: int) -> str:
    """Seconds and GiB of one form, as a cell of the table."""
    device = torch.device(options.device)
    torch.manual_seed(0)
    with device:
        head = LinearObjective(
            registry.find("losses", options.loss).factory(),
            options.width,
            labels,
            chunk=options.chunk,
        )
        head.weight.data = head.weight.data.to(getattr(torch, options.dtype))
        head.bias.data = (
            head.bias.data.to(head.weight.dtype) if form == "logits" else head.bias.data
        )
        hidden = torch.randn(options.batch, options.width, requires_grad=True)
        # labels of a text lie apart, so that none comes twice
        ids = torch.randint(labels // GOLD, (options.batch, GOLD)) + torch.arange(GOLD) * (
            labels // GOLD
        )
        target = SparseTarget(ids.flatten(), torch.arange(options.batch + 1) * GOLD)
    step, seconds = step_of(form, head, hidden, target), []
    before = _memory(device)
    for _ in range(options.rounds):
        started = time.perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return f"{statistics.median(seconds):.4f} s, {(_memory(device) - before) / 2**30:.2f} GiB"


def _memory(device: torch.device) -> int:
    """The most that was in use so far, in bytes."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """A row for each number of labels."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--chunk", type=int, default=16384)
    parser.add_argument("--loss", default="zlpr")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--form", choices=("chunks", "logits"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.form:
        print(measure(options.form, options, options.labels[0]))
        return
    print("| labels | matrix | in chunks | all logits at once |\n| ---: | ---: | ---: | ---: |")
    for labels in options.labels:
        size = labels * options.width * (2 if options.dtype == "bfloat16" else 4) / 2**30
        again = [sys.executable, *sys.argv]
        if "--labels" in again:  # its values run to the next option
            start = again.index("--labels")
            stop = next(
                (i for i in range(start + 1, len(again)) if again[i].startswith("--")), len(again)
            )
            del again[start:stop]
        cells = []
        for form in ("chunks", "logits"):
            command = [*again, "--labels", str(labels), "--form", form]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            cells.append(done.stdout.strip() or done.stderr.strip().splitlines()[-1])
        print(f"| {labels:,} | {size:.2f} GiB | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
