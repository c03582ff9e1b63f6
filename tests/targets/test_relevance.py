"""Relevance of labels to texts: the published values, and slow loops over the paper's sums."""

import json
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagwright.errors import DataError
from tagwright.targets import relevance as _relevance
from tagwright.targets._soft import softmax
from tagwright.targets.relevance import relevances, word_label_relevance
from tagwright.targets.weighting import Weighting, saturated
from tagwright.targets.word_counts import batches_of, count, occurrences

from .reference import encoded, random_texts, relevance, tokens_of

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
PUBLISHED = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"
CASES = VECTORS["kwls_eq1_to_eq8"]["cases"]
WEIGHTINGS = [
    Weighting(2.0, 0.75, 2.0, 1.0),
    Weighting(0.5, 1.0, 7.0, 1.0),
    Weighting(inf, 0.0, inf, 0.0),
]


class Case:
    """A published case as ids; its variant with k + 1 in the numerators is a factor."""

    def __init__(self, case: dict[str, Any]) -> None:
        texts = ["w " * 10_000 + "v" if text.startswith("<") else text for text in case["docs"]]
        ids = {word: 2 + i for i, word in enumerate(case["vocab"])}
        self.tokens = tokens_of([[ids[word] for word in text.split()] for text in texts])
        self.labels = encoded(case["label_ids"])
        self.weighting = Weighting(case["k1"], case["b"], case["k2"], 1.0)
        self.label_count, self.word_count = case["num_labels"], 2 + len(ids)
        more = case["name"] == "bm25_k_plus_1_variant"
        self.label_factor = (case["k1"] + 1) / case["k1"] if more else 1.0
        self.text_factor = (case["k2"] + 1) / case["k2"] if more else 1.0


def whole(*arguments: Any, **options: Any) -> np.ndarray:
    return np.concatenate(list(relevances(*arguments, **options)))


def test_vectors_are_the_published_ones():
    if PUBLISHED.exists():
        published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
        assert {key: published[key] for key in VECTORS} == VECTORS


@pytest.mark.parametrize("values", CASES, ids=[values["name"] for values in CASES])
def test_every_factor_has_its_published_values(values: dict[str, Any]):
    case = Case(values)
    (batch,) = batches_of(case.tokens, case.labels)
    counts = count(batch, case.word_count, case.label_count)
    norm = case.weighting.norm(counts.label_words, counts.label_words.mean())
    np.testing.assert_array_equal(counts.label_words, values["S"])
    np.testing.assert_allclose(case.weighting.k1 * norm, values["K"], rtol=1e-10)
    found = counts.word_labels
    correlation = [saturated(row, case.weighting.k1, norm) for row in found.toarray()[2:]]
    np.testing.assert_allclose(
        np.multiply(correlation, case.label_factor), values["WLC"], rtol=1e-10
    )
    weight = case.weighting.inverse(case.label_count, np.diff(found.indptr))[2:]
    np.testing.assert_allclose(weight, values["WLW"], rtol=1e-10)
    relevant = word_label_relevance(counts, case.weighting).toarray()[2:] * case.label_factor
    np.testing.assert_allclose(relevant, values["WLR"], rtol=1e-10)
    amounts = [
        saturated(row, case.weighting.k2)
        for row in occurrences(batch, case.word_count).toarray()[:, 2:]
    ]
    np.testing.assert_allclose(np.multiply(amounts, case.text_factor), values["WIC"], rtol=1e-10)
    weight = case.weighting.inverse(counts.text_count, counts.word_texts)[2:]
    np.testing.assert_allclose(weight, values["WIW"], rtol=1e-10)
    np.testing.assert_allclose(counts.word_total / counts.text_count, values["X_avg"], rtol=1e-10)


@pytest.mark.parametrize("values", CASES, ids=[values["name"] for values in CASES])
def test_relevance_and_soft_labels_are_the_published_ones(values: dict[str, Any]):
    case = Case(values)
    found = whole(case.tokens, case.labels, case.label_count, case.weighting)
    found = found * case.label_factor * case.text_factor
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, values["ILR"], rtol=1e-10)
    np.testing.assert_allclose(softmax(found), values["soft_labels"], rtol=1e-10)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_relevance_equals_that_of_slow_loops(weighting: Weighting, seed: int):
    texts, labels = random_texts(seed)
    expected = relevance(texts, texts, labels, 5, *weighting)
    found = whole(tokens_of(texts), encoded(labels), 5, weighting)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)


def test_blocks_of_rows_give_the_bits_of_the_whole(monkeypatch: pytest.MonkeyPatch):
    texts, labels = random_texts(6)
    given = (tokens_of(texts), encoded(labels), 5, WEIGHTINGS[0])
    expected = whole(*given)
    monkeypatch.setattr(_relevance, "CELLS", 35)  # seven rows
    blocks = list(relevances(*given))
    assert [len(block) for block in blocks] == [7, 7, 7, 7, 7, 6]
    assert np.concatenate(blocks).tobytes() == expected.tobytes()


def test_very_many_words_and_labels_stay_sparse_with_the_same_values(
    monkeypatch: pytest.MonkeyPatch,
):
    texts, labels = random_texts(7)
    given = (tokens_of(texts), encoded(labels), 5, WEIGHTINGS[0])
    expected = whole(*given)
    monkeypatch.setattr(_relevance, "DENSE", 0)
    np.testing.assert_allclose(whole(*given), expected, rtol=1e-14)


def test_order_of_texts_changes_no_bit():
    texts, labels = random_texts(8)
    order = np.random.default_rng(8).permutation(len(texts))
    shuffled = whole(
        tokens_of([texts[i] for i in order]), encoded([labels[i] for i in order]), 5, WEIGHTINGS[0]
    )
    assert (
        shuffled.tobytes()
        == whole(tokens_of(texts), encoded(labels), 5, WEIGHTINGS[0])[order].tobytes()
    )


def test_labels_nobody_has_are_relevant_to_nothing():
    texts, labels = random_texts(9)
    assert not whole(tokens_of(texts), encoded(labels), 5, WEIGHTINGS[0])[:, 4].any()


def test_texts_without_labels_give_no_relevance_and_no_nan():
    assert (
        whole(tokens_of([[2, 3], [2]]), encoded([[], []]), 3, WEIGHTINGS[1]).tolist()
        == [[0.0] * 3] * 2
    )


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("texts", [[[], []], [[0, 1], [1]]])
def test_texts_without_any_word_are_an_error_that_says_what_to_do(texts: list, leave_one_out: bool):
    with pytest.raises(
        DataError, match=r"the 2 texts have none that the tokenizer knows; lower embed\.minimum"
    ):
        whole(tokens_of(texts), encoded([[0], [1]]), 2, WEIGHTINGS[0], leave_one_out=leave_one_out)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_no_texts_have_no_relevance(leave_one_out: bool):
    found = whole(tokens_of([]), encoded([]), 2, WEIGHTINGS[0], leave_one_out=leave_one_out)
    assert found.shape == (0, 2)
