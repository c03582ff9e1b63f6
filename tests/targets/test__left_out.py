"""Counts of all the other texts, for every text."""

from math import inf

import numpy as np
import pytest

from tagwright.targets import _left_out
from tagwright.targets.relevance import relevances
from tagwright.targets.weighting import Weighting

from .reference import encoded, left_out, random_texts, tokens_of

KWLS, PLAIN = Weighting(2.0, 0.75, 2.0, 1.0), Weighting(inf, 0.0, inf, 0.0)


def whole(
    texts: list, labels: list, label_count: int, weighting: Weighting, *, leave_one_out: bool = True
):
    given = (tokens_of(texts), encoded(labels), label_count, weighting)
    return np.concatenate(list(relevances(*given, leave_one_out=leave_one_out)))


@pytest.mark.parametrize("weighting", [KWLS, Weighting(0.5, 1.0, 7.0, 1.0), PLAIN])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_leaving_a_text_out_equals_recounting_without_it(weighting: Weighting, seed: int):
    texts, labels = random_texts(seed)
    expected = left_out(texts, labels, 5, *weighting)
    np.testing.assert_allclose(whole(texts, labels, 5, weighting), expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("seed", [3, 4])
def test_rare_words_and_labels_equal_recounting_too(seed: int):
    texts, labels = random_texts(seed, count=7, words=23, labels=3)
    expected = left_out(texts, labels, 3, *KWLS)
    np.testing.assert_allclose(whole(texts, labels, 3, KWLS), expected, rtol=1e-10, atol=1e-15)


def test_blocks_of_cells_give_the_bits_of_the_whole(monkeypatch: pytest.MonkeyPatch):
    texts, labels = random_texts(5)
    expected = whole(texts, labels, 5, KWLS)
    for cells in (1, 37, 401):
        monkeypatch.setattr(_left_out, "CELLS", cells)
        assert whole(texts, labels, 5, KWLS).tobytes() == expected.tobytes()


def test_word_that_no_other_text_has_says_nothing():
    texts, labels = [[2, 2], [3], [3, 4]], [[0], [1], [1]]
    found = whole(texts, labels, 2, KWLS)
    assert found[0].tolist() == [0, 0]
    assert found[1, 1] > 0
    assert whole(texts, labels, 2, KWLS, leave_one_out=False)[0, 0] > 0


def test_lone_text_has_no_relevance():
    assert whole([[2, 3]], [[0]], 2, KWLS).tolist() == [[0, 0]]


def test_only_text_with_words_has_no_relevance():
    assert whole([[2, 3], [], [1]], [[0], [1], [1]], 2, KWLS).tolist() == [[0, 0]] * 3
