"""Relevance of labels to texts by the words they share, eqs. 1 to 7 of KWLS (Liu 2022), in float64.

The words that a text and a label share are one sparse product: (texts, words) @ (words, labels).
"""

from collections.abc import Iterator
from functools import reduce

import numpy as np
from scipy.sparse import csc_array, csr_array

from tagwright.arrays import Floats
from tagwright.errors import DataError
from tagwright.labels.space import Encoded
from tagwright.targets._left_out import relevance_left_out
from tagwright.targets.weighting import Weighting, saturated
from tagwright.targets.word_counts import (
    FIRST_WORD,
    ROWS,
    WordCounts,
    batches_of,
    counted,
    memberships,
    occurrences,
)
from tagwright.tokenizers.tokens import Tokens

CELLS = 2**22  # of a block of relevances
DENSE = 2**24  # cells of word-label relevances that may be dense, which is twice as fast


def relevances(
    tokens: Tokens,
    labels: Encoded,
    label_count: int,
    weighting: Weighting,
    *,
    leave_one_out: bool = False,
) -> Iterator[Floats]:
    """ILR of eq. 7, (n, L), in blocks of rows. A text without words has 0 everywhere.

    With `leave_one_out` every text meets the counts of all the others.
    """
    word_count = int(tokens.words.max(initial=FIRST_WORD - 1)) + 1
    batches = batches_of(tokens, labels, rows=max(1, min(ROWS, CELLS // label_count)))
    blocks = [
        (occurrences(batch, word_count), memberships(batch, label_count)) for batch in batches
    ]
    counts = reduce(WordCounts.merged, (counted(*block) for block in blocks))
    if len(tokens) and not counts.word_total:
        raise DataError(
            f"soft labels from words need words, and the {len(tokens)} texts have none that the"
            " tokenizer knows; lower embed.minimum, or take targets smooth"
        )
    if leave_one_out:
        yield from (relevance_left_out(*block, counts, weighting) for block in blocks)
        return
    vectors = label_vectors(counts, weighting)
    yield from (text_label_relevance(words, vectors, weighting) for words, _ in blocks)


def word_label_relevance(counts: WordCounts, weighting: Weighting) -> csr_array:
    """WLR of eqs. 1 to 3, (V, L) sparse: words that are frequent in a label, and in few labels."""
    found = counts.word_labels
    norm = weighting.norm(counts.label_words, counts.label_words.mean())
    labels_of_word = np.diff(found.indptr)
    weight = weighting.inverse(found.shape[1], labels_of_word)
    values = saturated(found.data, weighting.k1, norm[found.indices]) * np.repeat(
        weight, labels_of_word
    )
    return csr_array((values, found.indices, found.indptr), shape=found.shape)


def label_vectors(counts: WordCounts, weighting: Weighting) -> Floats | csr_array:
    """WLR * WIW / X_avg, (V, L): all of eq. 7 that does not depend on the text."""
    relevance = word_label_relevance(counts, weighting)
    weight = weighting.inverse(counts.text_count, counts.word_texts) * (
        counts.text_count / max(counts.word_total, 1)
    )
    relevance.data *= np.repeat(weight, np.diff(relevance.indptr))
    return relevance.toarray() if np.prod(relevance.shape, dtype=np.int64) <= DENSE else relevance


def text_label_relevance(
    words: csc_array, vectors: Floats | csr_array, weighting: Weighting
) -> Floats:
    """ILR of eq. 7, (n, L), of texts with these words (n, V): WIC of eq. 4 times the labels'
    vectors.
    """
    # counts are few: looked up
    amounts = saturated(np.arange(words.data.max(initial=0) + 1), weighting.k2)
    # clip: none is, but it is faster
    cells = (
        amounts.take(words.data, mode="clip"),
        words.indices,
        words.indptr,
    )
    found = csc_array(cells, shape=words.shape) @ vectors
    return found if isinstance(found, np.ndarray) else found.toarray()
