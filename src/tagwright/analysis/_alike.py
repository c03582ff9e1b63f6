"""Labels whose texts use the same words: cosine of TF-IDF centroids."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csc_array, csr_array, diags_array

LABELS = 2000  # at most so many labels are compared, the common ones: the cosine matrix is dense
COMPANIONS = 0.5  # labels that share more of the rarer one's rows are left out
FEWEST = 3  # labels with fewer texts have no centroid worth the name


class Alike(NamedTuple):
    """Labels `left` and `right`, the cosine of their centroids, and a row of each that is near the
    other's centroid.
    """

    left: int
    right: int
    similarity: float
    together: float  # share of the rarer label's rows that carry both
    left_row: int
    right_row: int


def alike(texts: pa.ChunkedArray | pa.Array, labels: csr_array, *, pairs: int) -> list[Alike]:
    """The most similar pairs of labels, most similar first; `labels` is multi-hot (n, L).

    Labels that mostly come together are companions, not look-alikes: their texts are the same ones.
    The example of a label is the text, among those without the other label, that comes nearest to
    the other: the one to doubt about.
    """
    counts = labels.sum(axis=0)
    compared = np.sort(np.argsort(-counts, kind="stable")[:LABELS])
    compared = compared[counts[compared] >= FEWEST]
    if len(compared) < 2:
        return []
    words = tfidf(texts)
    members = csc_array(labels[:, compared])
    centroids = _unit_rows(csr_array(members.T @ words))  # (C, W)
    similarity = np.triu((centroids @ centroids.T).toarray(), k=1)
    together = (members.T @ members).toarray() / np.minimum.outer(
        counts[compared], counts[compared]
    )
    similarity[together > COMPANIONS] = 0
    best = np.argsort(-similarity, axis=None, kind="stable")[:pairs]
    found = []
    for left, right in zip(*(place.tolist() for place in np.unravel_index(best, similarity.shape))):
        if similarity[left, right] > 0:
            rows = (
                _doubtful(words, members, centroids, one, other)
                for one, other in ((left, right), (right, left))
            )
            shares = float(similarity[left, right]), float(together[left, right])
            found.append(Alike(int(compared[left]), int(compared[right]), *shares, *rows))
    return found


def tfidf(texts: pa.ChunkedArray | pa.Array) -> csr_array:
    """Rows of unit length, (n, W): counts times smoothed inverse document frequency; no words: an
    empty row.

    A word is a run of letters, digits and marks in lower case; Chinese and Japanese characters are
    words each.
    """
    spaced = pc.replace_substring_regex(
        pc.utf8_lower(pc.fill_null(texts, "")), r"([\p{Han}\p{Hiragana}\p{Katakana}])", r" \1 "
    )
    lists = pc.split_pattern_regex(spaced, r"[^\p{L}\p{N}\p{M}]+")
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    coded = pc.dictionary_encode(pc.list_flatten(lists))
    columns = coded.indices.to_numpy(zero_copy_only=False)
    real = pc.not_equal(coded.dictionary, "").to_numpy(zero_copy_only=False)[columns]
    shape = (len(lists), max(len(coded.dictionary), 1))
    counts = csr_array(
        (np.ones(int(real.sum()), np.float32), (rows[real], columns[real])), shape=shape
    )
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=shape[1])
    counts.data *= (np.log((1 + shape[0]) / (1 + frequency)) + 1).astype(np.float32)[counts.indices]
    return _unit_rows(counts)


def _unit_rows(matrix: csr_array) -> csr_array:
    length = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ matrix)


def _doubtful(
    words: csr_array, members: csc_array, centroids: csr_array, label: int, other: int
) -> int:
    rows, others = (
        members.indices[members.indptr[one] : members.indptr[one + 1]] for one in (label, other)
    )
    rows = np.setdiff1d(rows, others)  # never empty: companions were left out
    nearness = (words[rows] @ centroids[[other]].T).toarray()
    return int(rows[nearness.argmax()])
