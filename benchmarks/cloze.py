"""What label slots cost: a step of a pretrained encoder with them, beside a plain step that reads
as many tokens.

    pip install 'tagwright[minilm]'
    python benchmarks/cloze.py --device cpu --rows 128
    python benchmarks/cloze.py --device cuda --rows 8192
    python benchmarks/cloze.py --device cuda --only memory --rows 1024
    python benchmarks/cloze.py --device cpu --only memory --rows 256

Texts are made up, of one length: with a plain head `--tokens` pieces, with slots so many fewer as
these take. Memory is that of debtags (598 labels, TAGWRIGHT_DATA else ../shared/data) in training
and in prediction, one token a slot, texts that do not look at slots. Encoders are found as `fit`
does, or in the folder that `--encoder` names.
"""

import argparse
import logging
import os
import resource
import time
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import regularize
import torch

from tagwright.data import Data
from tagwright.inference.model import answers_of, inputs_of
from tagwright.settings.schema import Settings, resolve
from tagwright.training.prepare import prepare
from tagwright.training.prepared import Prepared
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, _network, fit

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
LABELS, AROUND = 28, 2  # as goemotions has; special tokens around a text
MOST = 1.3
SLOTS = {"diff": 3, "short": 1}
WIDE = {"name": "cloze", "template": "short", "slot_positions": "shared", "text_sees_slots": False}


def drawn(words: int, rows: int) -> Data:
    """Texts of so many words of one piece each, with labels at random."""
    random = np.random.default_rng(0)
    known = ["time", "people", "way", "water", "word", "day", "part", "place", "year", "name"]
    texts = [" ".join(random.choice(known, words)) for _ in range(2 * rows)]
    labels = [
        [f"label {n}" for n in random.choice(LABELS, 2, replace=False)] for _ in range(2 * rows)
    ]
    table = pa.table({"text": texts, "labels": pa.array(labels, pa.list_(pa.string()))})
    tables = {"train": table.slice(0, rows), "dev": table.slice(rows, 32)}
    return Data(tables=tables, task="many", source="made up")


def made(
    head: dict[str, Any], words: int, options: argparse.Namespace
) -> tuple[Prepared, Settings]:
    """What is to be timed: three epochs over texts of so many words, without evaluations."""
    given = {"objective": "bce", "head": head, "encoder": options.named}
    given["fit"] = {"epochs": 3.0, "device": options.device, "evaluations": 0.01, "limit": 256}
    settings = resolve(given)
    return prepare(drawn(words, options.rows), settings), settings


def compare(options: argparse.Namespace) -> None:
    """Print seconds a step with each template, and ratios to the plain one."""
    heads = {"plain": ({"name": "document"}, options.tokens - AROUND)}
    for template, size in SLOTS.items():
        heads[template] = (
            {"name": "cloze", "template": template},
            options.tokens - AROUND - size * LABELS,
        )
    found: dict[str, list[float]] = {name: [] for name in heads}
    for _ in range(options.rounds):
        for name, (head, words) in heads.items():
            found[name].append(regularize.seconds_of(*made(head, words, options)))
        print(
            "  " + ", ".join(f"{name} {1000 * found[name][-1]:,.2f} ms" for name in heads),
            flush=True,
        )
    for name in SLOTS:
        ratios = [own / plain for own, plain in zip(found[name], found["plain"])]
        print(
            f"  {name}: {median(ratios):.2f} of a plain step (may be {MOST}), {min(ratios):.2f} to"
            f" {max(ratios):.2f}"
        )


def memory(options: argparse.Namespace) -> None:
    """Print what debtags takes at its peak with `--rows` texts: on a GPU to learn and score them,
    on a CPU to score.
    """
    given: dict[str, Any] = {"objective": "bce", "head": WIDE, "encoder": options.named}
    data, _ = read_for(str(FOLDER / "debtags"), given)
    # of an epoch: all texts stay, for the sake of their labels
    share = options.rows / data.tables["train"].num_rows
    given["fit"] = {"epochs": max(share, 0.01), "device": options.device, "limit": 128}
    settings = resolve(given, data.task, data.size)
    data = replace(data, tables={**data.tables, "dev": data.tables["dev"].slice(0, options.rows)})
    prepared = prepare(data, settings)
    started, peak = time.perf_counter(), 0
    if options.device == "cuda":
        fit(prepared, settings, Run(say=lambda text: print(f"  {text}")))
        peak = torch.cuda.max_memory_allocated()
    else:
        network = _network(prepared, settings)
        inputs = inputs_of(network, prepared.tokens["dev"], limit=settings.fit.limit)
        answers_of(network, inputs, settings, prepared.space, settings.link)
    seconds = time.perf_counter() - started
    print(f"  debtags, {len(prepared.space)} labels: {seconds:.0f} s for {options.rows} texts")
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"  peak of a GPU {peak / 2**30:.1f} GiB, of the host {host / 2**20:.1f} GiB")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="minilm", help="minilm, mpnet, or a folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tokens", type=int, default=128, help="of a row, slots included")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["steps", "memory"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--cpu-time", action="store_true", help="the process's own time: with 1 thread"
    )
    options = parser.parse_args()
    regularize.CLOCK = time.process_time if options.cpu_time else time.perf_counter
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    if options.device == "cpu":
        torch.set_num_threads(min(options.threads, os.cpu_count() or 1))
    known = options.encoder in ("minilm", "mpnet")
    options.named = (
        {"name": options.encoder} if known else {"name": "pretrained", "path": options.encoder}
    )
    if options.only != "memory":
        compare(options)
    if options.only != "steps":
        memory(options)


if __name__ == "__main__":
    main()
