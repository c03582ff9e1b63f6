"""What you would use instead of Tagwright: a linear SVM, a logistic regression, Transformers.

    python benchmarks/rivals.py --rival svm --data goemotions --seed 0 --out rivals.jsonl
    python benchmarks/rivals.py --rival trainer --data sst5 --seed 1 --device cuda
    python benchmarks/rivals.py --table rivals.jsonl

Rivals: `svm` is TF-IDF over words and pairs of words with one `LinearSVC` per label. `logreg` is
one logistic regression per label over MiniLM's mean vectors, its C chosen on dev. `trainer` is
`transformers.Trainer` with its own defaults over MiniLM: 3 epochs, batches of 8, rate 5e-5. All
learn from train without dev, which is held out as Tagwright holds it out. Each row of the output
has the names and the conventions of Tagwright's metrics.

Where a text has any number of labels, `untuned` is a threshold of 0 (a probability of 0.5),
`common` one threshold for all labels with the best micro-F1 on dev, and `own` the threshold of
each label with its best F1 on dev. A label whose best F1 there is below 0.1 gets none of the
texts (SCutFBR.1 of Fan and Lin 2007). `test` is `untuned` for `trainer`, because that is its
default, and `own` for the others.

Data are looked up in TAGWRIGHT_DATA, else in ../shared/data; MiniLM as `tagwright fit` does.
"""

import argparse
import gzip
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import metrics
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from tagwright.data import read_data
from tagwright.data.split import split
from tagwright.labels.space import LabelSpace
from tagwright.tokenizers.source import find_source

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
LEAST_F1 = 0.1  # of a label on dev, below which its threshold is luck
COSTS = (1.0, 10.0, 100.0)  # of the logistic regressions
PIECES = 256  # the length that MiniLM was trained for
LIBRARIES = ("scikit-learn", "torch", "transformers")
DECISIONS = ("untuned", "common", "own")
SHOWN = ("micro_f1", "macro_f1", "subset_accuracy", "lrap")


@dataclass(frozen=True, kw_only=True)
class Part:
    """Texts and their labels, bool (n, L)."""

    texts: list[str]
    truth: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Task:
    """A data set in three parts; `exclusive` where each text has exactly one label."""

    name: str
    space: LabelSpace
    exclusive: bool
    train: Part
    dev: Part
    test: Part


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Scores (n, L) of dev and test, and the seconds from texts to a trained model."""

    dev: np.ndarray
    test: np.ndarray
    seconds: float


def read_task(name: str, *, rows: int = 0) -> Task:
    """The parts as Tagwright makes them; `rows` takes that many texts of train, 0 all."""
    data = split(read_data(FOLDER / name))
    train = data.tables["train"]
    train = train.slice(0, rows) if rows else train
    exclusive = data.task == "one"
    space = LabelSpace.of(train["labels"], exclusive=exclusive)
    parts = {"train": train, "dev": data.tables["dev"], "test": data.tables["test"]}
    made = {key: _part(table, space) for key, table in parts.items()}
    return Task(name=name, space=space, exclusive=exclusive, **made)


def _part(table: pa.Table, space: LabelSpace) -> Part:
    truth = space.encode(table["labels"]).matrix(len(space)).toarray() > 0
    texts = table["text"].to_pylist()
    if not space.exclusive:
        return Part(texts=texts, truth=truth)
    # a text whose only label train does not have cannot be right
    known = np.flatnonzero(truth.any(1))
    return Part(texts=[texts[i] for i in known], truth=truth[known])


def svm(task: Task, *, seed: int, device: str) -> Answer:
    """TF-IDF of words and pairs of words, and a linear support vector machine for each label."""
    started = time.perf_counter()
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    features = vectorizer.fit_transform(task.train.texts)
    machine = OneVsRestClassifier(LinearSVC(random_state=seed))
    machine.fit(features, task.train.truth.astype(int))
    seconds = time.perf_counter() - started

    def scores(part: Part) -> np.ndarray:
        return _columns(machine.decision_function(vectorizer.transform(part.texts)))

    return Answer(dev=scores(task.dev), test=scores(task.test), seconds=seconds)


def logreg(task: Task, *, seed: int, device: str) -> Answer:
    """Mean vectors of MiniLM, and a logistic regression for each label; dev chooses C."""
    started = time.perf_counter()
    train, dev = vectors(task.train.texts, device=device), vectors(task.dev.texts, device=device)
    target = task.train.truth.argmax(1) if task.exclusive else task.train.truth.astype(int)
    best, chosen = -1.0, None
    for cost in COSTS:
        one = LogisticRegression(C=cost, max_iter=1000)
        model = (one if task.exclusive else OneVsRestClassifier(one)).fit(train, target)
        found = ranked(_columns(model.decision_function(dev)), task.dev.truth)
        best, chosen = (found, model) if found > best else (best, chosen)
    seconds = time.perf_counter() - started
    scores = [chosen.decision_function(x) for x in (dev, vectors(task.test.texts, device=device))]
    return Answer(dev=_columns(scores[0]), test=_columns(scores[1]), seconds=seconds)


def vectors(texts: Sequence[str], *, device: str) -> np.ndarray:
    """One vector of length 1 for each text, (n, D): the mean over its pieces."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = find_source("minilm")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).to(device).eval()
    # batches of like length have little padding
    order = np.argsort([len(text) for text in texts], kind="stable")
    found = np.zeros((len(texts), model.config.hidden_size), np.float32)
    with torch.inference_mode():
        for rows in np.array_split(order, max(1, len(texts) // 64)):
            here = [texts[i] for i in rows]
            batch = tokenizer(here, truncation=True, max_length=PIECES, padding=True)
            inputs = {key: torch.tensor(value, device=device) for key, value in batch.items()}
            there = inputs["attention_mask"][:, :, None]
            total = (model(**inputs).last_hidden_state * there).sum(1) / there.sum(1)
            found[rows] = torch.nn.functional.normalize(total, dim=1).cpu().numpy()
    return found


def trainer(task: Task, *, seed: int, device: str) -> Answer:
    """Fine-tuning MiniLM with what `TrainingArguments` has by default."""
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    started, folder = time.perf_counter(), find_source("minilm")
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(folder, model_max_length=512)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        num_labels=len(task.space),
        problem_type=f"{'single' if task.exclusive else 'multi'}_label_classification",
        dtype=torch.float32,  # weights that lie in half precision would be trained in it
    )
    with tempfile.TemporaryDirectory() as work:
        arguments = TrainingArguments(
            work,
            seed=seed,
            use_cpu=device == "cpu",
            save_strategy="no",  # this and the next two change nothing that is learnt
            report_to=[],
            disable_tqdm=True,
            per_device_eval_batch_size=64,
        )
        collate = DataCollatorWithPadding(tokenizer)
        parts = (task.train, task.dev, task.test)
        train, dev, test = (_rows(part, tokenizer, exclusive=task.exclusive) for part in parts)
        made = Trainer(model, arguments, train_dataset=train, data_collator=collate)
        made.train()
        seconds = time.perf_counter() - started
        scores = [made.predict(rows).predictions for rows in (dev, test)]
    return Answer(dev=scores[0], test=scores[1], seconds=seconds)


def _rows(part: Part, tokenizer: Any, *, exclusive: bool) -> list[dict[str, Any]]:
    """Tokens and labels as `Trainer` takes them."""
    encoded = tokenizer(part.texts, truncation=True)
    target = part.truth.argmax(1) if exclusive else part.truth.astype(np.float32)
    rows = [{key: encoded[key][i] for key in encoded} for i in range(len(part.texts))]
    return [{**row, "labels": label} for row, label in zip(rows, target, strict=True)]


def _columns(scores: np.ndarray) -> np.ndarray:
    """Scores (n, L); scikit-learn gives those of two classes as (n,)."""
    return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores


def ranked(scores: np.ndarray, truth: np.ndarray) -> float:
    """How well the scores order the labels of a text, whatever the threshold."""
    found: float = metrics.label_ranking_average_precision_score(truth, scores)
    return found


def best_threshold(scores: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The threshold with the highest F1 of the cells (n,), and that F1.

    It lies half way between the lowest score that is chosen and the next one.
    """
    precision, recall, cuts = metrics.precision_recall_curve(truth, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = int(f1[:-1].argmax())
    below = cuts[best - 1] if best else cuts[best] - 1.0
    return float((cuts[best] + below) / 2), float(f1[best])


def own_thresholds(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """A threshold for each label, (L,)."""
    found = np.full(scores.shape[1], np.inf)
    for label in np.flatnonzero(truth.any(0)):
        cut, f1 = best_threshold(scores[:, label], truth[:, label])
        found[label] = cut if f1 >= LEAST_F1 else np.inf
    return found


def choices(task: Task, answer: Answer) -> dict[str, np.ndarray]:
    """What each way of deciding chooses on test, bool (n, L)."""
    if task.exclusive:
        return {"untuned": _highest(answer.test)}
    common, _ = best_threshold(answer.dev.ravel(), task.dev.truth.ravel())
    cuts = {"untuned": 0.0, "common": common, "own": own_thresholds(answer.dev, task.dev.truth)}
    return {name: answer.test > cut for name, cut in cuts.items()}


def _highest(scores: np.ndarray) -> np.ndarray:
    return np.arange(scores.shape[1]) == scores.argmax(1)[:, None]


def measured(scores: np.ndarray, chosen: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Metrics by scikit-learn, under Tagwright's names."""
    f1 = partial(metrics.f1_score, truth, chosen, zero_division=0)
    found = {
        "micro_f1": f1(average="micro"),
        "macro_f1": f1(average="macro"),
        "example_f1": f1(average="samples"),
        "subset_accuracy": metrics.accuracy_score(truth, chosen),
        "hamming_loss": metrics.hamming_loss(truth, chosen),
        "lrap": ranked(scores, truth),
        "ranking_loss": metrics.label_ranking_loss(truth, scores),
    }
    return {name: float(value) for name, value in found.items()}


RIVALS: dict[str, tuple[str, Callable[..., Answer], str]] = {
    "svm": ("TF-IDF + SVM", svm, "own"),
    "logreg": ("embeddings + logistic regression", logreg, "own"),
    "trainer": ("Transformers Trainer", trainer, "untuned"),
}


def row_of(task: Task, rival: str, *, seed: int, device: str) -> dict[str, Any]:
    """Train one rival and measure it: a line of the output."""
    title, learn, decision = RIVALS[rival]
    answer = learn(task, seed=seed, device=device)
    chosen = choices(task, answer)
    found = {name: measured(answer.test, one, task.test.truth) for name, one in chosen.items()}
    encoder = "tfidf" if rival == "svm" else "minilm"
    place = {"data": task.name, "encoder": encoder, "cut": "", "part": ""}
    return {
        "key": f"rivals {rival} {task.name} {seed}",
        **place,
        "variant": title,
        "seed": seed,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "decision": "highest" if task.exclusive else decision,
        "test": found["untuned" if task.exclusive else decision],
        **found,
        "texts": len(task.test.texts),
        "seconds": round(answer.seconds, 3),
        "device": device_name("cpu" if rival == "svm" else device),
        "versions": versions(("scikit-learn",) if rival == "svm" else LIBRARIES),
    }


def versions(names: Iterable[str]) -> dict[str, str]:
    """Python's version, and those of these libraries."""
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def device_name(device: str) -> str:
    """The GPU's name, or the kind of processor."""
    if device == "cpu":
        return f"cpu ({platform.machine()})"
    import torch

    return torch.cuda.get_device_name()


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Means and standard deviations in percent, a line for each data set, rival and decision."""
    head = ("data", "rival", "seeds", *SHOWN, "seconds")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    cells: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        for decision in (one for one in DECISIONS if one in row):
            name = "" if row["decision"] == "highest" else f", {decision}"
            cells.setdefault((row["data"], row["variant"] + name, decision), []).append(row)
    for (data, name, decision), found in cells.items():
        values = [mean_of([100 * row[decision][metric] for row in found]) for metric in SHOWN]
        seconds = f"{np.mean([row['seconds'] for row in found]):.0f}"
        lines.append(f"| {' | '.join([data, name, str(len(found)), *values, seconds])} |")
    return "\n".join(lines)


def mean_of(values: Sequence[float]) -> str:
    """The mean, and the standard deviation where there are several.

    >>> mean_of([1.0, 2.0]), mean_of([3.0])
    ('1.5 ± 0.7', '3.0')
    """
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}"


def _text(file: Path) -> str:
    """A file of rows, packed with gzip or not."""
    if file.suffix != ".gz":
        return file.read_text(encoding="utf-8")
    with gzip.open(file, "rt", encoding="utf-8") as packed:
        return packed.read()


def main() -> None:
    """Make one row, or print the table of rows that are there."""
    shown_as_is = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown_as_is)
    parser.add_argument("--rival", choices=RIVALS)
    parser.add_argument("--data", nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=0, help="texts of train; 0 takes all")
    parser.add_argument("--out", type=Path, default=Path("rivals.jsonl"))
    parser.add_argument("--table", nargs="+", type=Path, help="print the table of these files")
    options = parser.parse_args()
    if options.table:
        lines = [line for file in options.table for line in _text(file).splitlines()]
        print(table(json.loads(line) for line in lines))
        return
    if not options.rival or not options.data:
        parser.error("--rival and --data are needed to make a row")
    for name in options.data:
        task = read_task(name, rows=options.rows)
        row = row_of(task, options.rival, seed=options.seed, device=options.device)
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        shown = {key: round(row["test"][key], 4) for key in SHOWN}
        print(name, row["variant"], shown, f"{row['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
