"""Elements of MaskLoss beside the plain way: every text without each of its words, by a trained
model.

    python benchmarks/elements.py --encoder cnn --device cpu --data trec_fine
    python benchmarks/elements.py --encoder minilm --device cuda --data trec_fine

The plain way takes the same ids: copies in the texts' order, 32 at a time, padded to the longest,
in float32, and reads the probabilities of each batch. Both start from texts and end with the
dictionary; tokenizing, which is the same work for both, is timed by itself, too. Both run
`--rounds` times in turns, and the best time of each counts. Where the two dictionaries differ, the
fall of the label must lie nearer to the threshold than rounding goes. The model is trained first,
for `--epochs`. Data are looked up in TAGWRIGHT_DATA, else in ../shared/data; encoders as `fit`
does.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from tagwright.batches.word_removals import copies, gaps_of
from tagwright.explain.dependencies import TOLERANCE, FoundElements, find_elements
from tagwright.inference.model import Model, inputs_of
from tagwright.models.precision import exactly
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import fit

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
BATCH = 32
CLOCK = time.perf_counter


@dataclass
class Plain:
    """What the plain way found: (word, label) -> texts, and the pairs of which a fall is near the
    threshold.
    """

    texts: dict[tuple[str, str], set[int]]
    near: set[tuple[str, str]]
    copies: int
    seconds: float


@torch.inference_mode()
def probabilities(model: Model, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and choices of some rows, padded to the longest of them."""
    device = next(model.network.parameters()).device
    inputs = inputs_of(model.network, tokens, limit=model.inference.limit)
    tensors = (tensor.to(device) for tensor in inputs.batch(np.arange(len(tokens))))
    scores: Any = model.heads["main"].scores(
        model.network.of_labels(*tensors)["main"].float().cpu().numpy()
    )
    return scores.probabilities, scores.chosen


def plainly(model: Model, table: pa.Table, *, threshold: float, tolerance: float) -> Plain:
    """Batch after batch, in the texts' order."""
    started = CLOCK()
    model.network.eval()
    head = model.heads["main"]
    words = model.tokenizer.encode_words(table["text"])
    truth = (head.space.encode(table["labels"]).matrix(len(head.space)) > 0).toarray()
    rows = [row_tokens(words.tokens, i, i + BATCH) for i in range(0, len(truth), BATCH)]
    found = [probabilities(model, part) for part in rows]
    full, chosen = (np.concatenate(parts) for parts in zip(*found))
    gaps = gaps_of(words)
    gaps = gaps.take((chosen == truth).all(axis=1)[gaps.owner])
    texts: dict[tuple[str, str], set[int]] = defaultdict(set)
    near: set[tuple[str, str]] = set()
    for start in range(0, len(gaps), BATCH):
        part = gaps.take(slice(start, start + BATCH))
        without, _ = probabilities(model, copies(words.tokens, part))
        falls = full[part.owner].astype(np.float64) - without
        for row, label in zip(*np.nonzero(falls > threshold - tolerance)):
            pair = words.words[part.word[row]], head.space.names[label]
            if falls[row, label] > threshold:
                texts[pair].add(int(part.owner[row]))
            if abs(falls[row, label] - threshold) < tolerance:
                near.add(pair)
    return Plain(dict(texts), near, len(gaps), CLOCK() - started)


def row_tokens(tokens: Tokens, start: int, stop: int) -> Tokens:
    """Some rows."""
    offsets = tokens.offsets[start : stop + 1]
    return Tokens(tokens.ids[offsets[0] : offsets[-1]], offsets - offsets[0])


def trained(options: argparse.Namespace) -> tuple[Model, pa.Table]:
    """A model and the texts it learnt from."""
    given: dict[str, Any] = {
        "encoder": {"name": options.encoder},
        "fit": {"device": options.device},
    }
    if options.epochs:
        given["fit"]["epochs"] = options.epochs
    data, settings = read_for(str(FOLDER / options.data), given)
    prepared = prepare(data, settings)
    return fit(prepared, settings).model, prepared.tables["train"]


def compared(ours: FoundElements, plain: Plain) -> str:
    """Whether the dictionaries are the same; what differs must be near the threshold."""
    mine = {(row.word, row.label): row.texts for row in ours.elements}
    theirs = {pair: len(texts) for pair, texts in plain.texts.items()}
    differ = {pair for pair in mine.keys() | theirs.keys() if mine.get(pair) != theirs.get(pair)}
    if differ - plain.near:
        raise SystemExit(
            "the dictionaries differ where no fall is near the threshold:"
            f" {sorted(differ - plain.near)[:5]}"
        )
    return (
        f"{len(mine):,} pairs, {len(differ)} near ones differ"
        if differ
        else f"{len(mine):,} pairs, all the same"
    )


def in_float32(model: Model, table: pa.Table, threshold: float) -> Plain:
    """The plain way; the encoder's own precision comes back afterwards."""
    with exactly(model.network.encoder):
        return plainly(model, table, threshold=threshold, tolerance=TOLERANCE)


def row(way: str, precision: str, seconds: float, copies: int, computed: int, near: int) -> str:
    """A row of the table."""
    return (
        f"| {way} | {precision} | {seconds:.2f} | {copies:,} | {computed:,} |"
        f" {copies / seconds:,.0f} | {near} |"
    )


def main() -> None:
    """Print the table."""
    global CLOCK
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="cnn", help="cnn, lstm, bow, minilm, …")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data", default="trec_fine")
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument(
        "--epochs", type=float, default=0, help="of training; 0 takes the encoder's own"
    )
    parser.add_argument("--rows", type=int, default=0, help="texts that are looked at; 0 takes all")
    parser.add_argument("--rounds", type=int, default=3)
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
    torch.set_num_threads(options.threads)
    model, table = trained(options)
    model.network.to(options.device)
    table = table[: options.rows] if options.rows else table
    find_elements(model, table[:64], threshold=options.threshold)  # warm-up
    runs = []
    for _ in range(options.rounds):
        words, _ = timed(lambda: model.tokenizer.encode_words(table["text"]))
        own, found = timed(lambda: find_elements(model, table, threshold=options.threshold))
        runs.append((words, own, in_float32(model, table, options.threshold)))
    words, own = min(run[0] for run in runs), min(run[1] for run in runs)
    plain = min((run[2] for run in runs), key=lambda run: run.seconds)
    clock = "of the process" if options.cpu_time else "of the clock"
    where = f"{options.encoder} on {options.device}, {options.data}"
    print(f"{where}: {found.texts:,} texts, {found.selected:,} of them predicted right")
    print(f"| way | precision | seconds {clock} | copies | computed | copies a second | near |")
    print("|---" * 7 + "|")
    print(row("plain", "float32", plain.seconds, plain.copies, plain.copies, len(plain.near)))
    print(row("ours", found.precision, own, found.copies, found.copies - found.skipped, found.near))
    beyond = (plain.seconds - words) / (own - words)
    print(
        f"{plain.seconds / own:.1f} times as fast; {beyond:.1f} beyond {words:.2f} s of tokenizing,"
        " which both have"
    )
    print(compared(found, plain))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    started = CLOCK()
    result = work()
    return CLOCK() - started, result


if __name__ == "__main__":
    main()
