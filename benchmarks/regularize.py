"""What regularizers cost: a step of a pretrained encoder with each of them, beside a plain one, in
one run.

    pip install 'tagwright[minilm]'
    python benchmarks/regularize.py --encoder minilm --device cpu --rows 256
    python benchmarks/regularize.py --encoder minilm --device cuda --rows 8192

Every kind trains for some epochs; the steps of the first are left out, for kernels are made and
graphs captured in them, and so is each epoch's last, which ends in an evaluation. Kinds take turns
in every round, so that a slow minute of the machine hits all of them, and a ratio is of one round.
Data are in TAGWRIGHT_DATA, else in ../shared/data; encoders as `fit` does, or in the folder that
`--encoder` names.
"""

import argparse
import logging
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import torch

from tagwright.settings.merge import assigned, side_by_side
from tagwright.settings.schema import Settings, resolve
from tagwright.training.loop import Step
from tagwright.training.prepare import prepare
from tagwright.training.prepared import Prepared
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, fit

CLOCK = time.perf_counter
FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
KINDS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "rdrop": ("rdrop",),
    "vat": ("vat",),
    "both": ("rdrop", "vat"),
}
MOST = {"rdrop": 2.1, "vat": 3.2}  # what they may cost


def seconds_of(prepared: Prepared, settings: Settings) -> float:
    """Seconds a step, of those after the first epoch."""
    per_epoch = -(-prepared.tables["train"].num_rows // settings.fit.batch)
    taken, count = 0.0, 0

    def timed(stream: Iterator[Step], title: str, start: int, total: int) -> Iterator[Step]:
        nonlocal taken, count
        started, last = CLOCK(), 0
        for step in stream:
            if step.settled:  # captured steps come in groups, after their last has been waited for
                if step.score is None and last >= per_epoch:
                    taken, count = taken + CLOCK() - started, count + step.number - last
                started, last = CLOCK(), step.number
            yield step

    fit(prepared, settings, Run(progress=timed, say=lambda text: print(f"  {text}")))
    return taken / count


def main() -> None:
    """Print seconds a step, and ratios to the plain one."""
    global CLOCK
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--set", action="append", default=[], help="a setting, as section.key=value"
    )
    parser.add_argument("--data", default="goemotions")
    parser.add_argument("--encoder", default="minilm", help="minilm, mpnet, or a folder")
    parser.add_argument("--objective", default="zlpr")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=256, help="texts of train and of dev")
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument(
        "--threads", type=int, default=2, help="on a CPU; 1 where others work on the machine, too"
    )
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="the process's own time, not the clock's: with 1 thread",
    )
    options = parser.parse_args()
    CLOCK = time.process_time if options.cpu_time else time.perf_counter
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    if options.device == "cpu":
        torch.set_num_threads(min(options.threads, os.cpu_count() or 1))
    named = options.encoder in ("minilm", "mpnet")
    encoder = (
        {"name": options.encoder} if named else {"name": "pretrained", "path": options.encoder}
    )
    given: dict[str, Any] = {"objective": options.objective, "encoder": encoder}
    given["fit"] = {"epochs": options.epochs, "device": options.device}
    given = side_by_side(given, assigned(options.set))
    data, settings = read_for(str(FOLDER / options.data), given)
    data = replace(
        data, tables={name: table.slice(0, options.rows) for name, table in data.tables.items()}
    )
    prepared = prepare(data, settings)
    lengths = prepared.tokens["train"].lengths.clip(max=settings.fit.limit)
    print(
        f"{options.data}: {len(lengths)} texts, {lengths.mean():.0f} pieces on average, batches of"
        f" {settings.fit.batch}"
    )
    compare(
        prepared, settings, list(dict.fromkeys(["plain", *options.kinds])), rounds=options.rounds
    )


def compare(prepared: Prepared, settings: Settings, kinds: list[str], *, rounds: int) -> None:
    """Print a line a round, and a line a kind."""
    plain = settings.as_dict()
    chosen = {kind: resolve({**plain, **{name: {} for name in KINDS[kind]}}) for kind in kinds}
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            found[kind].append(seconds_of(prepared, chosen[kind]))
        print(
            "  " + ", ".join(f"{kind} {1000 * found[kind][-1]:,.1f} ms" for kind in kinds),
            flush=True,
        )
    for kind in kinds:
        ratios = sorted(own / other for own, other in zip(found[kind], found["plain"]))
        most = f" (may be {MOST[kind]})" if kind in MOST else ""
        print(
            f"  {kind}: {1000 * median(found[kind]):,.1f} ms a step, {median(ratios):.2f} of a"
            f" plain one{most}, from {ratios[0]:.2f} to {ratios[-1]:.2f}"
        )


if __name__ == "__main__":
    main()
