"""Soft labels from keywords beside tokenizing, and beside the equations written with dictionaries.

    python benchmarks/kwls.py                   # 30,000, 60,000 and 120,000 texts
    python benchmarks/kwls.py --plain 120000    # the dictionaries, too, get every text

The texts are AG News (`ag_news_part` in TAGWRIGHT_DATA, else in ../shared/data), repeated. Soft
labels are timed from token ids and label names to the array (n, L). The dictionaries get words as
lists of ids, ready-made, and labels as lists; they see `--plain` texts at most, and their time is
scaled up to all. Both run equally often, in turns, and the best time of each counts.
"""

import argparse
import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tagwright.labels.space import LabelSpace
from tagwright.targets.kwls import kwls
from tagwright.targets.word_counts import batches_of, count
from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.word import Word

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SIZES = (30_000, 60_000, 120_000)
K1, B, K2 = 2.0, 0.75, 2.0


def with_dictionaries(
    texts: list[list[int]], labels: list[list[str]], names: tuple[str, ...]
) -> list[list[float]]:
    """Equations 1 to 8, word by word."""
    frequency: dict[str, Counter[int]] = {name: Counter() for name in names}
    texts_of_word: Counter[int] = Counter()
    sizes = dict.fromkeys(names, 0)
    for text, own in zip(texts, labels):
        texts_of_word.update(set(text))
        for name in own:
            frequency[name].update(text)
            sizes[name] += len(text)
    mean_size, mean_length = sum(sizes.values()) / len(names), sum(map(len, texts)) / len(texts)
    of_label: dict[str, dict[int, float]] = {name: {} for name in names}
    for name in names:
        bound = K1 * (1 - B + B * sizes[name] / mean_size)
        for word, found in frequency[name].items():
            weight = log(len(names) / sum(word in frequency[other] for other in names)) + 1
            of_label[name][word] = weight * found * K1 / (found + bound)
    word_weight = {word: log(len(texts) / found) + 1 for word, found in texts_of_word.items()}
    soft = []
    for text in texts:
        amount = {
            word: word_weight[word] * found * K2 / (found + K2)
            for word, found in Counter(text).items()
        }
        row = [
            sum(of_label[name].get(word, 0.0) * a for word, a in amount.items()) / mean_length
            for name in names
        ]
        shares = [exp(value - max(row)) for value in row]
        soft.append([share / sum(shares) for share in shares])
    return soft


def seconds(work: Callable[[], Any]) -> float:
    """Of one run."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def first(tokens: Tokens, rows: int) -> Tokens:
    """The first rows."""
    return Tokens(tokens.ids[: tokens.offsets[rows]], tokens.offsets[: rows + 1])


def dictionaries(tokens: Tokens, table: pa.Table, space: LabelSpace) -> Callable[[], Any]:
    """The dictionaries' work, ready to run; their soft labels must be ours."""
    words = [tokens.ids[a:b] for a, b in zip(tokens.offsets, tokens.offsets[1:])]
    texts, labels = [ids[ids > 1].tolist() for ids in words], table["labels"].to_pylist()
    expected = with_dictionaries(texts[:1000], labels[:1000], space.names)
    np.testing.assert_allclose(
        kwls(table[:1000], space, first(tokens, 1000), k1=K1, b=B, k2=K2), expected, rtol=1e-5
    )
    return lambda: with_dictionaries(texts, labels, space.names)


def cells(tokens: Tokens, table: pa.Table, space: LabelSpace) -> str:
    """What there is to compute: texts' distinct words, and words of labels."""
    parts = [
        count(part, 30_000, len(space))
        for part in batches_of(tokens, space.encode(table["labels"]))
    ]
    text_cells = sum(int(part.word_texts.sum()) for part in parts)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merged(part)
    return f"{len(tokens.ids):,} | {text_cells:,} | {whole.word_labels.nnz:,}"


def row(
    table: pa.Table, space: LabelSpace, tokenizer: Tokenizer, *, plain_rows: int, runs: int
) -> str:
    """A row of the table."""
    started = time.perf_counter()
    tokens = tokenizer.encode(table["text"])
    tokenizing = time.perf_counter() - started
    kwls(table, space, tokens)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    plain_work = dictionaries(first(tokens, plain_rows), table[:plain_rows], space)
    times = [
        (seconds(lambda: kwls(table, space, tokens)), seconds(plain_work)) for _ in range(runs)
    ]
    ours, plain = (min(column) for column in zip(*times))
    plain *= table.num_rows / plain_rows
    alone = seconds(lambda: kwls(table, space, tokens, leave_one_out=True))
    shown = (
        f"{tokenizing:.2f} | {ours:.3f} | {ours / tokenizing:.1%} | {alone:.2f} | {plain:.1f} |"
        f" {plain / ours:.0f}"
    )
    return f"| {table.num_rows:,} | {cells(tokens, table, space)} | {shown} | {memory:.0f} MiB |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--plain", type=int, default=30_000, help="texts that the dictionaries see at most"
    )
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    given = pq.read_table(FOLDER / "ag_news_part" / "train.parquet")
    table = pa.concat_tables([given] * -(-max(SIZES) // given.num_rows))[: max(SIZES)]
    space = LabelSpace.of(table["labels"], exclusive=True)
    tokenizer = Word().train(given["text"])
    print(
        "| texts | tokens | (text, word) | (word, label) | tokenizing s | soft labels s | share |"
        " leave one out s ",
        end="",
    )
    print(f"| dictionaries s, from {options.plain:,} texts | ratio | peak memory of the process |")
    print("|---" * 11 + "|")
    for size in SIZES:
        print(
            row(
                table[:size],
                space,
                tokenizer,
                plain_rows=min(size, options.plain),
                runs=options.runs,
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
