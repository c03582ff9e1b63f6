"""Copies of texts without a word, against lists; which of them are the same."""

import numpy as np
import pytest

from tagwright.batches import word_removals as module
from tagwright.batches.word_removals import Gaps, copies, first_alike, gaps_of
from tagwright.tokenizers.spelled import Spelled
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.word import Word

LISTS = [[4, 5, 6, 7, 8, 9], [], [3, 3], [9, 8, 7]]


def tokens_of(rows):
    flat = np.array([i for row in rows for i in row], np.int32)
    return Tokens(flat, np.cumsum([0, *map(len, rows)]))


def rows_of(tokens):
    return [tokens.ids[a:b].tolist() for a, b in zip(tokens.offsets, tokens.offsets[1:])]


def every_gap(rows):
    found = [
        (i, a, b, 0)
        for i, row in enumerate(rows)
        for a in range(len(row))
        for b in range(a, len(row) + 1)
    ]
    return Gaps(*np.array(found).T)


@pytest.mark.parametrize("ends", [None, (3, 0), (1, 2), (0, 1), (100, 1)])
def test_copies_are_the_texts_without_their_gaps_cut_to_their_ends(ends):
    gaps = every_gap(LISTS)
    for row, owner, start, stop in zip(
        rows_of(copies(tokens_of(LISTS), gaps, ends)), *gaps[:3], strict=True
    ):
        left = LISTS[owner][:start] + LISTS[owner][stop:]
        if ends is not None and len(left) > sum(ends):
            left = left[: ends[0]] + left[len(left) - ends[1] :]
        assert row == left


def test_copies_of_several_features_keep_them_together():
    words = Spelled(minimum=1).train(["ab c"]).encode_words(["ab c", "c"])
    found = copies(words.tokens, gaps_of(words))
    expected = [Spelled(minimum=1).train(["ab c"]).encode([text]).ids for text in ("c", "ab")]
    for row, (a, b) in zip(expected, zip(found.offsets, found.offsets[1:])):
        np.testing.assert_array_equal(found.ids[a:b], row)


def test_every_word_of_every_text_is_a_gap():
    words = Word(minimum=1).train(["a b"]).encode_words(["a b b", "", "b"])
    gaps = gaps_of(words)
    assert gaps.owner.tolist() == [0, 0, 0, 2]
    assert gaps.start.tolist() == [0, 1, 2, 0]
    assert gaps.stop.tolist() == [1, 2, 3, 1]
    assert [words.words[i] for i in gaps.word] == ["a", "b", "b", "b"]
    assert len(gaps_of(Word(minimum=1).train(["a"]).encode_words([""]))) == 0


@pytest.mark.parametrize("digest", [None, lambda tokens: np.zeros(len(tokens), np.uint64)])
def test_first_alike_is_exact_even_where_digests_are_the_same(digest, monkeypatch):
    if digest is not None:
        monkeypatch.setattr(module, "_digests", digest)
    rows = [[1, 2], [1, 2], [2, 1], [1], [], [1, 2, 0], [], [1, 2]]
    found = first_alike(tokens_of(rows)).tolist()
    # of rows with one digest only the first is compared with: what is not found is computed twice,
    # never wrongly once
    expected = [0, 0, 2, 3, 4, 5, 4, 0] if digest is None else [0, 0, 2, 3, 4, 5, 6, 0]
    assert found == expected


def test_rows_without_tokens_are_alike_and_no_rows_are_none():
    assert first_alike(tokens_of([[], []])).tolist() == [0, 0]
    assert first_alike(tokens_of([[1], [2]])).tolist() == [0, 1]
    assert first_alike(tokens_of([])).tolist() == []


def test_rows_of_several_features_are_alike_only_in_all_of_them():
    ids = np.array([[1, 2], [1, 3], [1, 2], [1, 2]], np.int32)
    assert first_alike(Tokens(ids, np.arange(5))).tolist() == [0, 1, 0, 0]
