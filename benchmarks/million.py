"""A million labels, end to end: makes a set, trains through `fit`, prints memory, seconds a step
and precision.

    python benchmarks/million.py --labels 1000000 --rows 200000 --device cuda
    python benchmarks/million.py --labels 20000 --rows 10000 --device cpu

A label is a pair of words, and a text is the pairs of its labels one after the other, so that what
is to be learnt can be learnt. Every label comes at least once; the rest are drawn after Zipf, and
so are all labels of dev.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from pyarrow import parquet

from tagwright.training.check import check
from tagwright.training.fitted import Fitted
from tagwright.training.loop import Step
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, fit

DRAWN = 3  # labels a text beside those that make every label come once


def make_set(folder: Path, *, labels: int, rows: int, dev_rows: int, seed: int = 0) -> None:
    """Write train.parquet and dev.parquet."""
    draw = np.random.default_rng(seed)
    chance = np.cumsum(1 / (np.arange(labels) + 10.0))
    names = draw.permutation(labels)  # frequent labels lie anywhere in the matrix

    def zipf(count: int) -> np.ndarray:
        return names[np.searchsorted(chance, draw.random(count) * chance[-1])]

    every = draw.permutation(labels)
    owners = np.concatenate([np.arange(labels) % rows, np.repeat(np.arange(rows), DRAWN)])
    _write(
        folder / "train.parquet", owners, np.concatenate([every, zipf(rows * DRAWN)]), rows, labels
    )
    _write(
        folder / "dev.parquet",
        np.repeat(np.arange(dev_rows), DRAWN),
        zipf(dev_rows * DRAWN),
        dev_rows,
        labels,
    )


def _write(path: Path, owners: np.ndarray, ids: np.ndarray, rows: int, labels: int) -> None:
    """Rows of their distinct labels, in order of id; texts of the labels' words, and a number that
    nothing follows.
    """
    cells = np.unique(owners.astype(np.int64) * labels + ids)
    owners, ids = np.divmod(cells, labels)
    offsets = pa.array(np.searchsorted(owners, np.arange(rows + 1)), pa.int32())
    side = int(np.ceil(labels**0.5))
    words = pa.array([f"a{n}" for n in range(side)] + [f"b{n}" for n in range(side)])
    pairs = np.stack([ids // side, side + ids % side], 1).ravel()
    doubled = pa.array(2 * np.searchsorted(owners, np.arange(rows + 1)), pa.int32())
    texts = pc.binary_join(pa.ListArray.from_arrays(doubled, words.take(pa.array(pairs))), " ")
    numbers = pc.binary_join_element_wise(texts, pa.array(np.arange(rows)).cast(pa.string()), " ")
    names = pc.binary_join_element_wise("label", pa.array(ids).cast(pa.string()), "-")
    parquet.write_table(
        pa.table({"text": numbers, "labels": pa.ListArray.from_arrays(offsets, names)}), path
    )


class Clock:
    """Progress that keeps when every step was done, and tells of evaluations."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(
        self, stream: Iterator[Step], title: str, start: int, total: int
    ) -> Iterator[Step]:
        last = time.perf_counter()
        for step in stream:
            now = time.perf_counter()
            if step.score is None:  # else the evaluation is in it
                self.seconds.append(now - last)
            else:
                place = f"step {step.number}/{total}, loss {step.loss:.3f}, score {step.score:.4f}"
                print(
                    f"{place}, {now - last:.1f} s with the evaluation", file=sys.stderr, flush=True
                )
            yield step
            last = time.perf_counter()


def trained(source: Path, options: argparse.Namespace, clock: Clock) -> Fitted:
    """The road of `tagwright fit`, less the folders."""
    given: dict[str, Any] = {
        "objective": options.objective,
        "encoder": {
            "name": "cnn",
            "width": 128,
            "filters": options.width // 2,
            "windows": [1, 2],
            "dropout": 0.1,
        },
        "head": {
            "chunk": options.chunk,
            "dtype": options.dtype,
            "optimizer": options.label_optimizer,
            "learning_rate": options.label_rate,
        },
        "fit": {
            "epochs": options.epochs,
            "batch": options.batch,
            "learning_rate": options.learning_rate,
            "device": options.device,
            "patience": 0,
        },
    }
    data, settings = read_for(str(source), given)
    prepared = prepare(data, settings)
    check(prepared, settings)
    print(
        f"{len(prepared.space):,} labels, {prepared.tables['train'].num_rows:,} texts",
        file=sys.stderr,
        flush=True,
    )
    return fit(prepared, settings, Run(progress=clock))


def table(fitted: Fitted, clock: Clock, options: argparse.Namespace) -> str:
    """What was measured, as Markdown."""
    found = fitted.model.heads["main"].metrics["metrics"]
    matrix = options.labels * options.width * (2 if options.dtype == "bfloat16" else 4)
    rows = {
        "labels × width, batch": f"{options.labels:,} × {options.width}, {options.batch}",
        "label matrix and its gradient": f"{2 * matrix / 2**30:.2f} GiB",
        "logits that are never made, with their gradient": (
            f"{2 * options.batch * options.labels * 4 / 2**30:.2f} GiB"
        ),
        "peak memory of the process": (
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"
        ),
    }
    if torch.cuda.is_available() and options.device != "cpu":
        rows["peak memory on the device"] = f"{torch.cuda.max_memory_allocated() / 2**30:.2f} GiB"
    rows |= {
        "seconds a step": f"{statistics.median(clock.seconds):.4f}",
        "seconds in all": f"{fitted.seconds:.1f}",
        **{
            name: f"{found[name]:.4f}"
            for name in ("precision_at_1", "precision_at_5", "recall_at_5", "micro_f1")
        },
    }
    return "\n".join(
        f"| {name} | {value} |"
        for name, value in [("what", "measured"), ("---", "---:"), *rows.items()]
    )


def main() -> None:
    """Make, train, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dev-rows", type=int, default=2_000)
    parser.add_argument("--width", type=int, default=256, help="of a text's vector")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--epochs", type=float, default=5.0)
    parser.add_argument("--chunk", type=int, default=16384)
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--objective", default="zlpr")
    parser.add_argument("--learning-rate", type=float, default=1e-2)
    parser.add_argument(
        "--label-optimizer", default="auto", choices=("auto", "adamw", "row_adagrad")
    )
    parser.add_argument("--label-rate", type=float, default=0.3)
    parser.add_argument("--device", default="auto")
    options, clock = parser.parse_args(), Clock()
    with tempfile.TemporaryDirectory() as folder:
        make_set(Path(folder), labels=options.labels, rows=options.rows, dev_rows=options.dev_rows)
        fitted = trained(Path(folder), options, clock)
    print(table(fitted, clock, options))


if __name__ == "__main__":
    main()
