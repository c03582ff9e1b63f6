"""`bow` beside TF-IDF and one linear SVM a label, in one run on the same cores: seconds to train,
and scores.

    python benchmarks/bow.py                          # every set, scored on test
    python benchmarks/bow.py --on dev reuters90  # for choosing settings: nothing of test is read

Data are looked up in TAGWRIGHT_DATA, else in ../shared/data. Training is all from texts to a model
that can decide: tokens, features, fit on train, thresholds on dev (a tenth of train where there is
none), a second fit on both.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from tagwright.data import Data
from tagwright.data.split import split
from tagwright.inference.score import score
from tagwright.labels.space import LabelSpace
from tagwright.settings.merge import assigned, side_by_side
from tagwright.settings.schema import Settings
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import fit

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = ("reuters90", "goemotions", "arxiv54", "debtags", "trec_fine")


class Result(NamedTuple):
    """Seconds to train, and accuracy or micro- and macro-F1."""

    seconds: float
    scores: tuple[float, ...]


def theirs(data: Data, on: str, *, has_dev: bool) -> Result:
    """The method of linear.md, as a user would write it, on the whole train file unless dev is
    scored.
    """
    train = data.tables["train"]
    texts, labels = train["text"].to_pylist(), train["labels"].to_pylist()
    if on == "test" and not has_dev:
        texts, labels = (
            texts + data.tables["dev"]["text"].to_pylist(),
            labels + data.tables["dev"]["labels"].to_pylist(),
        )
    space, exclusive = LabelSpace.of(labels), data.task == "one"
    target = space.encode(labels).matrix(len(space)).toarray()
    started = time.perf_counter()
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    features = vectorizer.fit_transform(texts)
    classifier = LinearSVC() if exclusive else OneVsRestClassifier(LinearSVC())
    classifier.fit(features, target.argmax(1) if exclusive else target.astype(int))
    seconds = time.perf_counter() - started
    truth = space.encode(data.tables[on]["labels"]).matrix(len(space)).toarray() > 0
    found = classifier.predict(vectorizer.transform(data.tables[on]["text"].to_pylist()))
    if exclusive:
        return Result(seconds, (float(truth[np.arange(len(found)), found].mean()),))
    return Result(
        seconds,
        tuple(f1_score(truth, found, average=a, zero_division=0) for a in ("micro", "macro")),
    )


def ours(data: Data, settings: Settings, on: str) -> Result:
    """`tagwright fit --encoder bow`, without reading the file and writing the report."""
    started = time.perf_counter()
    prepared = prepare(data, settings)
    fitted = fit(prepared, settings)
    seconds = time.perf_counter() - started
    found = fitted.model.heads["main"].metrics["metrics"]
    if on == "test":
        found = score(fitted.model, data, split="test").as_dict()["metrics"]
    return Result(
        seconds,
        (found["accuracy"],) if data.task == "one" else (found["micro_f1"], found["macro_f1"]),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--on", choices=("dev", "test"), default="test")
    parser.add_argument(
        "--set", action="append", default=[], help="a setting of ours, as section.key=value"
    )
    parser.add_argument("--alone", action="store_true", help="ours only")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    # start-up: the first optimizer imports torch's compiler
    torch.optim.Adagrad([torch.zeros(1, requires_grad=True)])
    given: dict[str, Any] = {"encoder": {"name": "bow"}}
    given = side_by_side(given, assigned(options.set))
    print(
        "| set | ours s | theirs s | ratio | ours: micro, macro or accuracy | theirs"
        " |\n|---|---|---|---|---|---|"
    )
    for name in options.sets:
        data, settings = read_for(str(FOLDER / name), given)
        has_dev = "dev" in data.tables
        data = split(data, dev_share=settings.split.dev_share, seed=settings.split.seed)
        own = ours(data, settings, options.on)
        other = (
            Result(float("nan"), ()) if options.alone else theirs(data, options.on, has_dev=has_dev)
        )
        ratio = f"{own.seconds:.1f} | {other.seconds:.1f} | {own.seconds / other.seconds:.2f}"
        shown = (" ".join(f"{value:.4f}" for value in result.scores) for result in (own, other))
        print(f"| {name} | {ratio} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
