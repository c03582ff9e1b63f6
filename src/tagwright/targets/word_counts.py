"""Words counted by text and by label: all that KWLS and TF-IDF know of the training texts, in whole
numbers.

A word is a token of the first channel whose id is at least 2: padding (0) and unknown (1), which
stands for many rare words at once, are none. They count nowhere, not even in the length of a text.
Whoever has other tokens that are no words (the special tokens of a pretrained encoder) makes them 0
first.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csc_array, csr_array

from tagwright.arrays import Ints
from tagwright.errors import DataError
from tagwright.labels.space import Encoded
from tagwright.tokenizers.tokens import Tokens

FIRST_WORD = 2
# texts of a batch: fewer or more and the counting sort leaves the cache or pays for its columns
ROWS = 32_768
FEW_LABELS = 16  # so few make a dense product the faster one


class WordCounts(NamedTuple):
    """Counts of N texts with V word ids and L labels. A text with several labels counts for each of
    them.
    """

    word_labels: csr_array  # int64 (V, L): how often a word stands in the texts of a label
    word_texts: Ints  # int64 (V,): texts that have the word
    label_texts: Ints  # int64 (L,): texts of the label
    label_words: Ints  # int64 (L,): words of the label's texts, S_m
    text_count: int  # N
    word_total: int  # words of all texts

    def merged(self, other: "WordCounts") -> "WordCounts":
        """The counts of these texts and the others': the same bits however the texts were
        parted.
        """
        return WordCounts(*(mine + theirs for mine, theirs in zip(self, other)))


def count(batch: pa.RecordBatch, word_count: int, label_count: int) -> WordCounts:
    """Count a batch with columns `words` and `labels`, list<int32> each: the ids of every text's
    words and labels.

    A label named twice counts once; a null among the ids is no word and no label, a null list is an
    empty one.

    >>> batch = pa.RecordBatch.from_pydict({"words": [[2, 3, 2], [3]], "labels": [[0], [1, 0]]})
    >>> count(batch, word_count=4, label_count=2).word_labels.toarray().tolist()
    [[0, 0], [0, 0], [2, 0], [2, 1]]
    """
    return counted(occurrences(batch, word_count), memberships(batch, label_count))


def counted(words: csc_array, labels: csr_array) -> WordCounts:
    """The counts of texts with these words (n, V) and labels (n, L)."""
    # int32 is enough: a batch has fewer than 2**31 words
    word_labels = csr_array(
        words.T @ (labels.toarray() if labels.shape[1] <= FEW_LABELS else labels)
    )
    word_labels.sort_indices()
    word_labels = word_labels.astype(np.int64)
    return WordCounts(
        word_labels=word_labels,
        word_texts=np.diff(words.indptr).astype(np.int64),
        label_texts=np.bincount(labels.indices, minlength=labels.shape[1]),
        label_words=word_labels.sum(axis=0),
        text_count=words.shape[0],
        word_total=int(words.data.sum(dtype=np.int64)),
    )


def occurrences(batch: pa.RecordBatch, word_count: int) -> csc_array:
    """How often every text has every word, (n, V) int32; cells are there for words that a text
    has.
    """
    ids, offsets = _flat(batch.column("words"), "words", 0, word_count)
    tokens = csr_array(
        (np.ones(len(ids), np.int32), ids, offsets), shape=(batch.num_rows, word_count)
    )
    # a counting sort, linear in tokens, which puts a text's equal words side by side
    cells = tokens.tocsc()
    cells.sum_duplicates()
    start = cells.indptr[min(FIRST_WORD, word_count)]
    starts = np.maximum(cells.indptr - start, 0)
    return csc_array((cells.data[start:], cells.indices[start:], starts), shape=cells.shape)


def memberships(batch: pa.RecordBatch, label_count: int) -> csr_array:
    """Which labels every text has, (n, L) int32 of ones."""
    # nulls are a column of their own, which is cut off
    ids, offsets = _flat(batch.column("labels"), "labels", label_count, label_count + 1)
    shape = (batch.num_rows, label_count + 1)
    # Arrow's ids are read-only
    labels = csr_array((np.ones(len(ids), np.int32), ids, offsets), shape=shape, copy=True)
    labels.sum_duplicates()
    labels.data[:] = 1
    return labels[:, :label_count]


def batches_of(tokens: Tokens, labels: Encoded, *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
    """The texts in batches for `count`, in order; no texts are one empty batch. Ids of one channel
    are not copied.
    """
    if len(tokens) != len(labels.offsets) - 1:
        raise DataError(
            f"tokens and labels must be of the same texts, got {len(tokens)} and"
            f" {len(labels.offsets) - 1}"
        )
    words = np.ascontiguousarray(tokens.words)
    for start in range(0, max(len(tokens), 1), rows):
        end = start + rows + 1
        lists = [
            _lists(words, tokens.offsets[start:end]),
            _lists(labels.ids, labels.offsets[start:end]),
        ]
        yield pa.RecordBatch.from_arrays(lists, names=["words", "labels"])


def _lists(ids: Ints, offsets: Ints) -> pa.ListArray:
    values = pa.array(ids[offsets[0] : offsets[-1]], pa.int32())
    return pa.ListArray.from_arrays(pa.array(offsets - offsets[0], pa.int32()), values)


def _flat(lists: pa.Array, name: str, null: int, limit: int) -> tuple[Ints, Ints]:
    """All ids one after the other, `null` for a null among them, and where each row's begin, (n +
    1,).
    """
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    flat = pc.list_flatten(lists)
    ids = (pc.fill_null(flat, null) if flat.null_count else flat).to_numpy(zero_copy_only=False)
    ids = ids.astype(np.int32, copy=False)
    if ids.view(np.uint32).max(initial=0) >= limit:  # a negative id is a huge one here
        raise DataError(f"{name} must be ids from 0 to {limit - 1}, got {ids.min()} to {ids.max()}")
    return ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
