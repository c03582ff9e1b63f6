"""Words counted by text and by label, in parts that merge to the same bits."""

from functools import reduce

import numpy as np
import pyarrow as pa
import pytest

from tagwright.errors import DataError
from tagwright.targets.word_counts import WordCounts, batches_of, count
from tagwright.tokenizers.tokens import Tokens

from .reference import encoded, random_texts, tokens_of

LISTS = pa.list_(pa.int32())


def batch_of(words: list, labels: list) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(words, LISTS), pa.array(labels, LISTS)], names=["words", "labels"]
    )


def plain(counts: WordCounts) -> list:
    matrix, *rest = counts
    return [matrix.toarray().tolist(), *(np.asarray(value).tolist() for value in rest)]


def bits(counts: WordCounts) -> list:
    matrix, *rest = counts
    arrays = [matrix.data, matrix.indices, matrix.indptr, *map(np.asarray, rest)]
    return [(array.dtype.str, array.tobytes()) for array in arrays]


def test_words_are_counted_for_every_label_of_their_text():
    counts = count(
        batch_of([[2, 3, 2], [4], [3, 4]], [[0], [0, 1], []]), word_count=5, label_count=3
    )
    assert counts.word_labels.dtype == np.int64
    assert plain(counts) == [
        [[0, 0, 0], [0, 0, 0], [2, 0, 0], [1, 0, 0], [1, 1, 0]],
        [0, 0, 1, 2, 2],
        [2, 1, 0],
        [4, 1, 0],
        3,
        6,
    ]


@pytest.mark.parametrize("label_count", [5, 41])
def test_counts_equal_those_of_plain_loops(label_count: int):
    texts, labels = random_texts(3, labels=label_count)
    counts = count(batch_of(texts, labels), word_count=13, label_count=label_count)
    for word in range(13):
        assert counts.word_texts[word] == sum(word in text for text in texts if word > 1)
        for label in range(label_count):
            found = sum(text.count(word) for text, own in zip(texts, labels) if label in own)
            assert counts.word_labels[word, label] == (found if word > 1 else 0)
    assert counts.word_total == sum(word > 1 for text in texts for word in text)
    assert counts.text_count == 41


def test_padding_and_unknown_are_no_words():
    counts = count(batch_of([[0, 1, 2, 1], [1, 0]], [[0], [1]]), word_count=3, label_count=2)
    assert plain(counts) == [[[0, 0], [0, 0], [1, 0]], [0, 0, 1], [1, 1], [1, 0], 2, 1]


def test_label_named_twice_counts_once():
    once, twice = (count(batch_of([[2, 3]], [labels]), 4, 2) for labels in ([1], [1, 1]))
    assert bits(once) == bits(twice)


def test_nulls_are_no_words_no_labels_and_empty_lists():
    given = count(batch_of([[2, None], None, [3]], [[None, 1], [0], None]), 4, 2)
    assert bits(given) == bits(count(batch_of([[2], [], [3]], [[1], [0], []]), 4, 2))


def test_slice_of_a_batch_counts_its_own_rows():
    texts, labels = random_texts(4)
    whole = batch_of(texts, labels)
    assert bits(count(whole[7:20], 13, 5)) == bits(
        count(batch_of(texts[7:20], labels[7:20]), 13, 5)
    )


@pytest.mark.parametrize("parts", [1, 3, 17])
@pytest.mark.parametrize("label_count", [5, 41])
def test_any_partition_in_any_order_gives_the_same_bits(parts: int, label_count: int):
    texts, labels = random_texts(parts, labels=label_count)
    draw = np.random.default_rng(parts)
    part_of = draw.integers(0, parts, len(texts))
    rows = [np.flatnonzero(part_of == part) for part in draw.permutation(parts)]
    batches = [batch_of([texts[i] for i in some], [labels[i] for i in some]) for some in rows]
    counts = [count(batch, 13, label_count) for batch in batches]
    whole = bits(count(batch_of(texts, labels), 13, label_count))
    assert bits(reduce(WordCounts.merged, counts)) == whole
    middle = len(counts) // 2
    if middle:  # merging is associative
        halves = [reduce(WordCounts.merged, half) for half in (counts[middle:], counts[:middle])]
        assert bits(halves[0].merged(halves[1])) == whole


def test_batches_have_the_texts_in_order_without_a_copy():
    texts, labels = random_texts(5)
    tokens = tokens_of(texts)
    batches = list(batches_of(tokens, encoded(labels), rows=17))
    assert [batch.num_rows for batch in batches] == [17, 17, 7]
    table = pa.Table.from_batches(batches)
    assert table.schema.types == [LISTS, LISTS]
    assert table["words"].to_pylist() == texts
    assert table["labels"].to_pylist() == [sorted(own) for own in labels]
    values = batches[1].column("words").values
    start = tokens.offsets[17] * 4
    assert values.buffers()[1].address + values.offset * 4 == tokens.ids.ctypes.data + start


def test_of_several_features_the_first_is_the_word():
    ids = np.array([[2, 9], [3, 9], [2, 9]], np.int32)
    (batch,) = batches_of(Tokens(ids, np.array([0, 1, 3])), encoded([[0], [1]]))
    assert batch.column("words").to_pylist() == [[2], [3, 2]]


def test_no_texts_are_one_empty_batch():
    (batch,) = batches_of(tokens_of([]), encoded([]))
    assert plain(count(batch, 3, 2)) == [[[0, 0]] * 3, [0, 0, 0], [0, 0], [0, 0], 0, 0]


def test_tokens_of_other_texts_are_refused():
    with pytest.raises(DataError, match="must be of the same texts, got 2 and 1"):
        list(batches_of(tokens_of([[2], [3]]), encoded([[0]])))


@pytest.mark.parametrize(
    ("words", "labels"), [([[4]], [[0]]), ([[-1]], [[0]]), ([[2]], [[3]]), ([[2]], [[-1]])]
)
def test_id_outside_its_range_is_refused(words: list, labels: list):
    with pytest.raises(DataError, match=r"must be ids from 0 to"):
        count(batch_of(words, labels), word_count=4, label_count=2)
