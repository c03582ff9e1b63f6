"""KWLS and TF-IDF by slow loops over the paper's sums; and random texts to try them on."""

from itertools import chain
from math import exp, inf, log

import numpy as np

from tagwright.labels.space import Encoded
from tagwright.tokenizers.tokens import Tokens

Text = list[int]


def relevance(
    scored: list[Text],
    texts: list[Text],
    labels: list[list[int]],
    label_count: int,
    k1,
    b,
    k2,
    base,
) -> list[list[float]]:
    """ILR of the texts `scored` by the counts of `texts`; ids 0 and 1 are no words."""
    scored, texts = (
        [[word for word in text if word > 1] for text in group] for group in (scored, texts)
    )
    of_label = [
        [text for text, own in zip(texts, labels) if label in own] for label in range(label_count)
    ]
    sizes = [sum(len(text) for text in group) for group in of_label]
    mean_size = sum(sizes) / label_count
    mean_length = sum(len(text) for text in texts) / len(texts) if texts else 0

    def word_label(word: int, label: int) -> float:
        frequency = sum(text.count(word) for text in of_label[label])
        if not frequency:
            return 0.0
        some = sum(any(word in text for text in group) for group in of_label)
        bound = k1 * (1 - b + b * sizes[label] / mean_size)
        amount = frequency if k1 == inf else frequency * k1 / (frequency + bound)
        return (log(label_count / some) + base) * amount

    def word_text(word: int, text: Text) -> float:
        some = sum(word in other for other in texts)
        frequency = text.count(word)
        amount = frequency if k2 == inf else frequency * k2 / (frequency + k2)
        return (log(len(texts) / some) + base) * amount if some else 0.0

    def one(text: Text, label: int) -> float:
        terms = [word_label(word, label) * word_text(word, text) for word in set(text)]
        return sum(terms) / mean_length if any(terms) else 0.0

    return [[one(text, label) for label in range(label_count)] for text in scored]


def left_out(
    texts: list[Text], labels: list[list[int]], label_count: int, *weighting: float
) -> list[list[float]]:
    """The same for every text, by the counts of all the others."""
    rows = []
    for i, text in enumerate(texts):
        others, theirs = texts[:i] + texts[i + 1 :], labels[:i] + labels[i + 1 :]
        rows += relevance([text], others, theirs, label_count, *weighting)
    return rows


def softmax(row: list[float]) -> list[float]:
    shares = [exp(value - max(row)) for value in row]
    return [share / sum(shares) for share in shares]


def tokens_of(texts: list[Text]) -> Tokens:
    lengths = [len(text) for text in texts]
    return Tokens(
        np.array(list(chain.from_iterable(texts)), np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def encoded(labels: list[list[int]]) -> Encoded:
    tokens = tokens_of([sorted(set(own)) for own in labels])
    return Encoded(tokens.ids.astype(np.int64), tokens.offsets, {})


def random_texts(
    seed: int, *, count: int = 41, words: int = 13, labels: int = 5
) -> tuple[list[Text], list[list[int]]]:
    """Texts of 0 to 9 tokens, some of them no words, with 0 to 3 labels; the last label has no
    text.
    """
    draw = np.random.default_rng(seed)
    texts = [draw.integers(0, words, draw.integers(0, 10)).tolist() for _ in range(count)]
    own = [draw.permutation(labels - 1)[: draw.integers(0, 4)].tolist() for _ in range(count)]
    return texts, own
