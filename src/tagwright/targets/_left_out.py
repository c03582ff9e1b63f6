"""Relevance of labels to a text by the counts of all the other texts: no text votes for itself."""

from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array, csr_array

from tagwright.arrays import Floats
from tagwright.targets.weighting import Weighting, saturated
from tagwright.targets.word_counts import WordCounts

CELLS = 2**18  # (text, word, label) at once: what a cache holds


def relevance_left_out(
    words: csc_array, labels: csr_array, counts: WordCounts, weighting: Weighting
) -> Floats:
    """ILR of eq. 7, (n, L), of texts with these words (n, V) and labels (n, L), which are among
    those counted.

    Leaving a text out changes S_avg, hence every K of eq. 1, so that each (text, word, label) is a
    value of its own. A word that no other text has says nothing; where there is no other text, all
    relevance is 0.
    """
    words, frequency = words.tocsr(), counts.word_labels.astype(np.float64)
    steps = np.arange(0, words.nnz, max(1, CELLS // labels.shape[1]))
    edges = np.unique([0, *np.searchsorted(words.indptr, steps), words.shape[0]])
    found = np.zeros(labels.shape)
    for start, end in pairwise(edges):
        found[start:end] = _block(words[start:end], labels[start:end], frequency, counts, weighting)
    return found


def _block(
    words: csr_array,
    labels: csr_array,
    frequency: csr_array,
    counts: WordCounts,
    weighting: Weighting,
) -> Floats:
    # of each cell of `words`, M in all
    text = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))
    own = labels[text]
    cell, label = np.repeat(np.arange(words.nnz), np.diff(own.indptr)), own.indices
    others = frequency[words.indices].toarray()  # (M, L)
    others[cell, label] -= words.data[cell]
    gone = np.bincount(cell, others[cell, label] == 0, minlength=words.nnz)
    bound = others / weighting.k1
    bound += _norms(words, labels, counts, weighting)[text]
    np.divide(others, bound, out=others, where=others > 0)  # WLC
    # WLW
    weight = weighting.inverse(labels.shape[1], np.diff(frequency.indptr)[words.indices] - gone)
    weight *= weighting.inverse(counts.text_count - 1, counts.word_texts[words.indices] - 1)  # WIW
    weight *= saturated(words.data, weighting.k2)  # WIC
    weight /= _mean_lengths(words, counts)[text]
    return (
        csr_array((weight, np.arange(words.nnz), words.indptr), shape=(words.shape[0], words.nnz))
        @ others
    )


def _norms(words: csr_array, labels: csr_array, counts: WordCounts, weighting: Weighting) -> Floats:
    """K / k1 of eq. 1 without the text itself, (n, L)."""
    own = labels.toarray() * words.sum(axis=1, dtype=np.int64)[:, None]
    mean = (counts.label_words.sum() - own.sum(axis=1, keepdims=True)) / labels.shape[1]
    return weighting.norm(counts.label_words - own, mean)


def _mean_lengths(words: csr_array, counts: WordCounts) -> Floats:
    """X_avg of eq. 7 without the text itself, (n,); where no other word is, 1, for all that it
    divides is 0.
    """
    others = counts.word_total - words.sum(axis=1, dtype=np.int64)
    return np.where(others > 0, others / max(counts.text_count - 1, 1), 1.0)
