"""Relevance of labels to a text by the counts of all the other texts: no text votes for itself."""

from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array, csr_array

from tagwright.targets._counts import Counts
from tagwright.targets._weighting import Weighting, saturated

CELLS = 2**20  # (text, word, label) at once


def relevance_left_out(words: csc_array, labels: csr_array, counts: Counts, weighting: Weighting) -> np.ndarray:
    """ILR of eq. 7, (n, L), of texts with these words (n, V) and labels (n, L), which are among those counted.

    Leaving a text out changes S_avg, hence every K of eq. 1, so that each (text, word, label) is a value of its own.
    A word that no other text has says nothing; where there is no other text, all relevance is 0.
    """
    words = words.tocsr()
    sizes = np.diff(counts.word_labels.indptr)[words.indices]
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[words.indptr]  # cells up to each text
    edges = np.unique([0, *np.searchsorted(ends, np.arange(CELLS, ends[-1], CELLS)), len(ends) - 1])
    found = np.zeros(labels.shape)
    for start, end in pairwise(edges):
        found[start:end] = _block(words[start:end], labels[start:end].toarray(), counts, weighting)
    return found


def _block(words: csr_array, labels: np.ndarray, counts: Counts, weighting: Weighting) -> np.ndarray:
    found = counts.word_labels[words.indices]  # (cells of `words`, L)
    cell = np.repeat(np.arange(words.nnz), np.diff(found.indptr))
    text = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))  # of each cell of `words`
    place = text[cell] * labels.shape[1] + found.indices  # in (n, L)
    others = found.data - labels.ravel()[place] * words.data[cell]
    norm = _norms(words, labels, counts, weighting).ravel()[place]
    labels_of_word = np.bincount(cell, others > 0, minlength=words.nnz)
    amount = saturated(words.data, weighting.k2) * weighting.inverse(labels.shape[1], labels_of_word)
    amount *= weighting.inverse(counts.text_count - 1, counts.word_texts[words.indices] - 1)
    amount /= _mean_lengths(words, counts)[text]
    values = amount[cell] * saturated(others, weighting.k1, norm)
    return np.bincount(place, values, minlength=labels.size).reshape(labels.shape)


def _norms(words: csr_array, labels: np.ndarray, counts: Counts, weighting: Weighting) -> np.ndarray:
    """K / k1 of eq. 1 without the text itself, (n, L)."""
    own = labels * words.sum(axis=1, dtype=np.int64)[:, None]
    mean = (counts.label_words.sum() - own.sum(axis=1, keepdims=True)) / labels.shape[1]
    return weighting.norm(counts.label_words - own, mean)


def _mean_lengths(words: csr_array, counts: Counts) -> np.ndarray:
    """X_avg of eq. 7 without the text itself, (n,); where no other word is, 1, for all that it divides is 0."""
    others = counts.word_total - words.sum(axis=1, dtype=np.int64)
    return np.where(others > 0, others / max(counts.text_count - 1, 1), 1.0)
