"""`bow` beside TF-IDF and one linear SVM a label, in one run on the same cores: seconds to train, and scores on test.

    python benchmarks/bow.py                      # every set
    python benchmarks/bow.py reuters90 debtags

Data are looked up in TAGWRIGHT_DATA, else in ../shared/data. Training is all from texts to a model that can decide:
tokens, features, fit on train, thresholds on dev (a tenth of train where there is none), a second fit on both.
"""

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import torch
from scipy.sparse import csr_array, vstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from tagwright.batches.sparse import SparseRows
from tagwright.batches.tokens import Tokens
from tagwright.decide.threshold import fit_thresholds
from tagwright.encoders._ngrams import NGrams
from tagwright.fit._row_adagrad import RowAdagrad
from tagwright.heads._sparse_linear import SparseLinear
from tagwright.labels.space import LabelSpace

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = ("reuters90", "goemotions", "arxiv54", "debtags", "trec_fine")


class Split(NamedTuple):
    """Texts of one part and their multi-hot labels, bool (n, L)."""

    texts: list[str]
    truth: np.ndarray


class Run(NamedTuple):
    """Seconds to train and the choices on test, bool (n, L)."""

    seconds: float
    chosen: np.ndarray


def read(name: str) -> tuple[Split, Split, Split]:
    """Train, dev and test of a set; dev is a fixed tenth of train where there is no file."""
    train, test = (pq.read_table(FOLDER / name / f"{part}.parquet") for part in ("train", "test"))
    space, file = LabelSpace.of(train["labels"]), FOLDER / name / "dev.parquet"
    if file.exists():
        dev = pq.read_table(file)
    else:
        order = np.random.default_rng(0).permutation(len(train))
        dev, train = (train.take(np.sort(part)) for part in np.split(order, [len(train) // 10]))
    splits = (train, dev, test)
    truth = (space.encode(part["labels"]).matrix(len(space)).toarray() > 0 for part in splits)
    one, two, three = (Split(part["text"].to_pylist(), rows) for part, rows in zip(splits, truth))
    return one, two, three


def theirs(train: Split, test: Split) -> Run:
    """The method of linear.md, as a user would write it."""
    exclusive = (train.truth.sum(axis=1) == 1).all()
    start = time.perf_counter()
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    features = vectorizer.fit_transform(train.texts)
    classifier = LinearSVC() if exclusive else OneVsRestClassifier(LinearSVC())
    classifier.fit(features, train.truth.argmax(axis=1) if exclusive else train.truth.astype(int))
    seconds = time.perf_counter() - start
    found = classifier.predict(vectorizer.transform(test.texts))
    return Run(seconds, np.arange(test.truth.shape[1]) == found[:, None] if exclusive else found > 0)


def ours(train: Split, dev: Split, test: Split) -> Run:
    """N-grams, row Adagrad, thresholds from dev, then both parts."""
    exclusive = bool((train.truth.sum(axis=1) == 1).all())
    start = time.perf_counter()
    tokenizer = learn_words(train.texts)
    tokens = tokenise(tokenizer, train.texts)
    grams = NGrams.learn(tokens, ignore=(0,))
    known, held = grams.features(tokens), grams.features(tokenise(tokenizer, dev.texts))
    thresholds = np.zeros(0)
    if not exclusive:
        thresholds = fit_thresholds(predict(fit(known, train.truth), held), dev.truth)
    both = fit(vstack([known, held], format="csr"), np.concatenate([train.truth, dev.truth]), exclusive=exclusive)
    seconds = time.perf_counter() - start
    logits = predict(both, grams.features(tokenise(tokenizer, test.texts)))
    if exclusive:
        return Run(seconds, np.arange(logits.shape[1]) == logits.argmax(axis=1)[:, None])
    return Run(seconds, logits > thresholds)


def fit(
    features: csr_array,
    truth: np.ndarray,
    *,
    exclusive: bool = False,
    epochs: int = 4,
    batch: int = 256,
    learning_rate: float = 3.0,
) -> SparseLinear:
    """BCE summed over labels (cross entropy where they exclude each other), from the log prior, rate falling to 0."""
    count = len(truth)
    if exclusive:  # few and short texts: more and smaller steps
        epochs, batch, learning_rate = 15, 32, 10.0
    model = SparseLinear(features.shape[1], truth.shape[1])
    prior = torch.from_numpy((truth.sum(axis=0) + 0.5) / (count + 1)).float()
    model.bias.data.copy_(prior.log() if exclusive else prior.logit())
    optimiser = RowAdagrad(model.parameters(), lr=learning_rate, floor=1 / batch)
    total = epochs * -(-count // batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / total)
    random = np.random.default_rng(0)
    for _ in range(epochs):
        for index in np.split(order := random.permutation(count), range(batch, len(order), batch)):
            logits, target = model(SparseRows.of(features, index)), torch.from_numpy(truth[index].astype(np.float32))
            (loss_of(logits, target, exclusive=exclusive) / len(index)).backward()
            optimiser.step()
            optimiser.zero_grad()
            schedule.step()
    return model


def loss_of(logits: torch.Tensor, target: torch.Tensor, *, exclusive: bool) -> torch.Tensor:
    """The sum over texts and labels, a scalar."""
    if exclusive:
        return torch.nn.functional.cross_entropy(logits, target, reduction="sum")
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="sum")


def predict(model: SparseLinear, features: csr_array) -> np.ndarray:
    """Logits (n, L)."""
    with torch.no_grad():
        parts = [np.arange(i, min(i + 1024, features.shape[0])) for i in range(0, features.shape[0], 1024)]
        return torch.cat([model(SparseRows.of(features, index)) for index in parts]).numpy()


def learn_words(texts: list[str]) -> Tokenizer:
    """Lower-case words and runs of punctuation that came twice; 0 is unknown."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[unknown]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=2**30, min_frequency=2, special_tokens=["[unknown]"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def tokenise(tokenizer: Tokenizer, texts: list[str]) -> Tokens:
    """Ids of every text, flat."""
    encodings = (e for i in range(0, len(texts), 4096) for e in tokenizer.encode_batch_fast(texts[i : i + 4096]))
    rows = [np.array(encoding.ids, np.int32) for encoding in encodings]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return Tokens(np.concatenate(rows), offsets.astype(np.int64))


def scores(test: Split, chosen: np.ndarray) -> str:
    """Accuracy where labels exclude each other, else micro- and macro-F1."""
    if (test.truth.sum(axis=1) == 1).all():
        return f"{(test.truth & chosen).any(axis=1).mean():.4f}"
    values = (f1_score(test.truth, chosen, average=average, zero_division=0) for average in ("micro", "macro"))
    return " ".join(f"{value:.4f}" for value in values)


def main(names: list[str]) -> None:
    """Print the table."""
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    RowAdagrad([torch.zeros(1, requires_grad=True)])  # start-up: the first optimiser imports torch's compiler, 1.7 s
    print("| set | ours s | theirs s | ratio | ours micro macro / accuracy | theirs |\n|---|---|---|---|---|---|")
    for name in names:
        train, dev, test = read(name)
        both = Split(train.texts + dev.texts, np.concatenate([train.truth, dev.truth]))
        other = theirs(train if (FOLDER / name / "dev.parquet").exists() else both, test)
        own = ours(train, dev, test)
        ratio = f"{own.seconds:.1f} | {other.seconds:.1f} | {own.seconds / other.seconds:.2f}"
        print(f"| {name} | {ratio} | {scores(test, own.chosen)} | {scores(test, other.chosen)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(SETS))
