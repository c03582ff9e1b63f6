"""What must not grow slow without being seen: seconds of the process's own time, the best of three.

    python benchmarks/quick.py

Made-up data, except for the audit, which wants `goemotions` in TAGWRIGHT_DATA, else in
../shared/data.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tagwright.analysis.audit import audit
from tagwright.data import Data
from tagwright.data.shop import shop
from tagwright.data.split import split
from tagwright.decisions.spans import SpanDecision
from tagwright.reports import plots

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def many_rows(rows: int = 100_000, labels: int = 500) -> Data:
    """Texts with three labels on average, a few frequent and many rare."""
    rng = np.random.default_rng(0)
    share, counts = 1 / np.arange(1, labels + 1), rng.poisson(3, rows)
    names = np.array([f"label {label}" for label in range(labels)])
    flat = names[rng.choice(labels, counts.sum(), p=share / share.sum())]
    lists = pa.ListArray.from_arrays(
        np.append(0, np.cumsum(counts)).astype(np.int32), pa.array(flat)
    )
    table = pa.table({"text": pa.array(np.char.mod("text %d", np.arange(rows))), "labels": lists})
    return Data(tables={"all": table}, task="many", source="made up")


def spans_of(tokens: int = 45_000, length: int = 15) -> Callable[[], object]:
    """Choosing legal tags for texts of 15 tokens."""
    names = ["O", *(f"{letter}-{kind}" for kind in "ABCD" for letter in "BI")]
    logits = np.random.default_rng(0).normal(size=(tokens, len(names))).astype(np.float32)
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    offsets = np.arange(0, tokens + 1, length)
    return lambda: SpanDecision(names).choose(logits, probabilities, offsets)


def tasks() -> Iterator[tuple[str, Callable[[], object]]]:
    """What is timed, by name."""
    rows, long = many_rows(), "a" * 50_000
    yield "shop: 4,000 pages", shop
    yield "split: 100,000 rows, 500 labels", lambda: split(rows, test_share=0.2)
    yield "spans: 45,000 tokens, 9 tags", spans_of()
    yield (
        "bars with names of 50,000 letters",
        lambda: plots.bars([long, long + "b"], [1, 2], title=long),
    )
    if (FOLDER / "goemotions").is_dir():
        parts = {
            name: pq.read_table(FOLDER / "goemotions" / f"{name}.parquet")
            for name in ("train", "dev", "test")
        }
        yield (
            "audit: goemotions",
            lambda: audit(Data(tables=parts, task="many", source="goemotions")),
        )


def seconds(work: Callable[[], object]) -> float:
    """The process's own time, the best of three."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


if __name__ == "__main__":
    for name, work in tasks():
        print(f"{seconds(work):8.3f} s  {name}")
