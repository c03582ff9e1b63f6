"""Slow references of the soft labels: plain loops over the formulas of KWLS, no code of the
library.

A corpus is X: its texts are lists of words, `labels` has the set of label ids of each text, p is
the number of labels there are, used or not. Counts and what is rational in them are exact;
logarithms and products are float64. Numbers in brackets are equations of KWLS. Where a label has no
such word, its term is 0 before anything is divided by a count.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, fsum, log
from typing import NamedTuple


class Corpus(NamedTuple):
    """Texts, the labels of each, and how many labels there are."""

    texts: Sequence[Sequence[int]]
    labels: Sequence[set[int]]
    p: int

    def of_label(self, m: int) -> list[Sequence[int]]:
        """X_m, the texts that have label m [1]."""
        return [text for text, labels in zip(self.texts, self.labels, strict=True) if m in labels]

    def without(self, i: int) -> "Corpus":
        """The corpus as it would be if text i had never been there. The labels stay the same p
        ones.
        """
        texts = [text for j, text in enumerate(self.texts) if j != i]
        labels = [labels for j, labels in enumerate(self.labels) if j != i]
        return Corpus(texts, labels, self.p)


def frequency(word: int, texts: Sequence[Sequence[int]]) -> int:
    """f, the number of times that a word appears in texts."""
    return sum(list(text).count(word) for text in texts)


def label_size(corpus: Corpus, m: int) -> int:
    """S_m, the number of words in X_m [1]."""
    return sum(len(text) for text in corpus.of_label(m))


def average_label_size(corpus: Corpus) -> Fraction:
    """S_avg, over all p labels [1]."""
    return Fraction(sum(label_size(corpus, m) for m in range(corpus.p)), corpus.p)


def average_length(corpus: Corpus) -> Fraction:
    """X_avg, over all N texts [7]."""
    return Fraction(sum(len(text) for text in corpus.texts), len(corpus.texts))


def length_factor(corpus: Corpus, m: int, *, k1: float, b: float) -> Fraction:
    """K [1]; of a corpus that has a word under some label, so that S_avg is not 0."""
    share = Fraction(label_size(corpus, m)) / average_label_size(corpus)
    return Fraction(k1) * (1 - Fraction(b) + Fraction(b) * share)


def label_count_of(word: int, corpus: Corpus) -> int:
    """sum(F), the number of labels under which a word occurs [2]."""
    return sum(frequency(word, corpus.of_label(m)) >= 1 for m in range(corpus.p))


def text_count_of(word: int, corpus: Corpus) -> int:
    """sum(F), the number of texts in which a word occurs [5]."""
    return sum(frequency(word, [text]) >= 1 for text in corpus.texts)


def word_label_correlation(word: int, m: int, corpus: Corpus, *, k1: float, b: float) -> float:
    """WLC [1]: the factor above the line is k1, not k1 + 1."""
    f = frequency(word, corpus.of_label(m))
    return float(f * Fraction(k1) / (f + length_factor(corpus, m, k1=k1, b=b))) if f else 0.0


def word_label_weight(word: int, corpus: Corpus) -> float:
    """WLW [2]."""
    return log(Fraction(corpus.p, label_count_of(word, corpus))) + 1


def word_text_correlation(word: int, text: Sequence[int], *, k2: float) -> float:
    """WIC [4]."""
    f = frequency(word, [text])
    return float(f * Fraction(k2) / (f + Fraction(k2)))


def word_text_weight(word: int, corpus: Corpus) -> float:
    """WIW [5]."""
    return log(Fraction(len(corpus.texts), text_count_of(word, corpus))) + 1


def keyword_relevance(
    text: Sequence[int],
    m: int,
    corpus: Corpus,
    *,
    k1: float = 2.0,
    b: float = 0.75,
    k2: float = 2.0,
) -> float:
    """ILR of a text and label m [7], over the distinct words of the text; the words are counted in
    `corpus`.
    """
    terms = []
    for word in sorted(set(text)):
        if frequency(word, corpus.of_label(m)) == 0:
            continue  # WLC is 0
        # WLR [3]
        word_label = word_label_weight(word, corpus) * word_label_correlation(
            word, m, corpus, k1=k1, b=b
        )
        # WIR [6]
        word_text = word_text_weight(word, corpus) * word_text_correlation(word, text, k2=k2)
        terms.append(word_label * word_text)
    return fsum(terms) / float(average_length(corpus)) if terms else 0.0


def tfidf_relevance(text: Sequence[int], m: int, corpus: Corpus) -> float:
    """The same sum with raw counts for WLC and WIC, and without the 1 that WLW and WIW add to a
    plain idf.
    """
    terms = []
    for word in sorted(set(text)):
        tf_label, tf_text = frequency(word, corpus.of_label(m)), frequency(word, [text])
        if tf_label == 0:
            continue
        idf_label = log(Fraction(corpus.p, label_count_of(word, corpus)))
        idf_text = log(Fraction(len(corpus.texts), text_count_of(word, corpus)))
        terms.append(tf_label * idf_label * tf_text * idf_text)
    return fsum(terms) / float(average_length(corpus)) if terms else 0.0


def softmax(values: Sequence[float]) -> list[float]:
    """Softmax [8]."""
    powers = [exp(value - max(values)) for value in values]
    return [power / fsum(powers) for power in powers]


def sigmoid(values: Sequence[float]) -> list[float]:
    """One chance a label, for texts that may have many labels. Relevances are never negative, so
    none is below 1/2.
    """
    return [1 / (1 + exp(-value)) for value in values]


RELEVANCES = {"kwls": keyword_relevance, "tfidf": tfidf_relevance}
NORMALIZED = {"softmax": softmax, "sigmoid": sigmoid}


def soft_labels(
    name: str, corpus: Corpus, *, normalize: str, leave_one_out: bool = False, **settings: float
) -> list[list[float]]:
    """Soft labels (n, p) of KWLS or LS-TFIDF. With `leave_one_out` each text is judged by what the
    others count.
    """
    rows = []
    for i, text in enumerate(corpus.texts):
        counted = corpus.without(i) if leave_one_out else corpus
        relevances = [RELEVANCES[name](text, m, counted, **settings) for m in range(corpus.p)]
        rows.append(NORMALIZED[normalize](relevances))
    return rows


def smoothed(corpus: Corpus, *, exclusive: bool, epsilon: float = 0.1) -> list[list[float]]:
    """LS-Classic (n, p): hard labels mixed with 1/p each, or with 1/2 each where a text may have
    many labels.
    """
    uniform = Fraction(1, corpus.p) if exclusive else Fraction(1, 2)
    share = Fraction(epsilon)
    return [
        [float((1 - share) * (m in labels) + share * uniform) for m in range(corpus.p)]
        for labels in corpus.labels
    ]
