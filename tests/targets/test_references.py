"""Soft labels against slow loops over the paper's formulas, which were written without a look at
the library.
"""

import json
import random
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import paper
from .corpora import (
    FIRST_WORD,
    SMALL,
    WIDE,
    any_settings,
    close,
    corpora,
    made,
    random_corpus,
    soft,
    space_of,
    table_of,
)
from .paper import Corpus

PUBLISHED = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"
VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in VECTORS["kwls_eq1_to_eq8"]["cases"]}
BOTH = pytest.mark.parametrize("name", ["kwls", "tfidf"])
NORMALIZED = pytest.mark.parametrize("normalize", ["softmax", "sigmoid"])
LEFT_OUT = pytest.mark.parametrize("leave_one_out", [False, True])

# the loops themselves


def published(name: str) -> tuple[Corpus, dict[str, float], dict[str, int]]:
    """The corpus of a published case, its settings, and its words with their ids."""
    case = CASES[name]
    texts = [text.replace("<'w ' x 10000>", "w " * 10000).split() for text in case["docs"]]
    ids = {word: number for number, word in enumerate(case["vocab"], FIRST_WORD)}
    corpus = Corpus(
        [[ids[word] for word in text] for text in texts],
        list(map(set, case["label_ids"])),
        case["num_labels"],
    )
    return corpus, {key: case[key] for key in ("k1", "b", "k2")}, ids


@pytest.mark.parametrize("name", [name for name in CASES if name != "bm25_k_plus_1_variant"])
def test_loops_give_every_published_value_of_equations_1_to_8(name: str):
    corpus, options, ids = published(name)
    words, labels, k1, b = list(ids.values()), range(corpus.p), options["k1"], options["b"]
    wlc = [[paper.word_label_correlation(w, m, corpus, k1=k1, b=b) for m in labels] for w in words]
    wlw = [paper.word_label_weight(w, corpus) for w in words]
    wic = [
        [paper.word_text_correlation(w, text, k2=options["k2"]) for w in words]
        for text in corpus.texts
    ]
    wiw = [paper.word_text_weight(w, corpus) for w in words]
    found = {
        "S": [paper.label_size(corpus, m) for m in labels],
        "S_avg": float(paper.average_label_size(corpus)),
        "K": [float(paper.length_factor(corpus, m, k1=k1, b=b)) for m in labels],
        "WLC": wlc,
        "WLW": wlw,
        "WLR": np.array(wlw)[:, None] * wlc,
        "WIC": wic,
        "WIW": wiw,
        "WIR": np.array(wic) * wiw,
        "X_avg": float(paper.average_length(corpus)),
        "ILR": [
            [paper.keyword_relevance(text, m, corpus, **options) for m in labels]
            for text in corpus.texts
        ],
        "soft_labels": paper.soft_labels("kwls", corpus, normalize="softmax", **options),
    }
    for key, values in found.items():
        np.testing.assert_allclose(values, CASES[name][key], rtol=1e-10, atol=1e-14, err_msg=key)


def test_published_variant_is_the_loops_times_its_two_factors():
    corpus, options, _ = published("bm25_k_plus_1_variant")
    found = [
        [paper.keyword_relevance(text, m, corpus) for m in range(corpus.p)] for text in corpus.texts
    ]
    factor = (options["k1"] + 1) / options["k1"] * (options["k2"] + 1) / options["k2"]
    np.testing.assert_allclose(
        np.array(found) * factor, CASES["bm25_k_plus_1_variant"]["ILR"], rtol=1e-10
    )


def test_copied_values_are_those_that_lie_beside_the_paper():
    if PUBLISHED.exists():
        whole = json.loads(PUBLISHED.read_text(encoding="utf-8"))
        assert {key: whole[key] for key in VECTORS} == VECTORS


# the parts against numbers made by hand, and against the loops


@pytest.mark.parametrize("name", [name for name in CASES if name != "bm25_k_plus_1_variant"])
def test_kwls_gives_the_published_soft_labels(name: str):
    corpus, options, _ = published(name)
    close(soft("kwls", corpus, **options), CASES[name]["soft_labels"])


def test_text_left_out_by_hand():
    # without the first text: S = 2, 1; K of label 0 = 2 (0.25 + 0.75 · 2 / 1.5) = 2.5; X_avg = 1.5;
    # word 2 in 1 of 2
    relevance = (log(2 / 1) + 1) * (1 * 2 / (1 + 2.5)) * (log(2 / 1) + 1) * (1 * 2 / (1 + 2)) / 1.5
    expected = [1 / (1 + exp(-relevance)), 1 / (1 + exp(relevance))]
    loops = paper.soft_labels("kwls", SMALL, normalize="softmax", leave_one_out=True)
    np.testing.assert_allclose(loops[0], expected, rtol=1e-10)
    close(soft("kwls", SMALL, leave_one_out=True)[0], expected)


def test_tfidf_by_hand():
    # word 2: twice under label 0 alone, in 2 of 3 texts; word 3 is under both labels: its idf is 0;
    # X_avg = 4 / 3
    relevance = 2 * log(2 / 1) * 1 * log(3 / 2) / (4 / 3)
    expected = [[1 / (1 + exp(-relevance)), 1 / (1 + exp(relevance))]] * 2 + [[0.5, 0.5]]
    np.testing.assert_allclose(
        paper.soft_labels("tfidf", SMALL, normalize="softmax"), expected, rtol=1e-10
    )
    close(soft("tfidf", SMALL), expected)


def agree(name: str, corpus: Corpus, options: dict[str, Any], *, exclusive: bool) -> None:
    found = soft(name, corpus, exclusive=exclusive, **options)
    # left out it is "auto"
    expected = {
        "normalize": "softmax" if exclusive else "sigmoid",
        **options,
    }
    close(found, paper.soft_labels(name, corpus, **expected))
    if expected["normalize"] == "softmax":
        np.testing.assert_allclose(found.sum(1, dtype=np.float64), 1, rtol=1e-6)


@BOTH
@settings(deadline=None)
@given(data=st.data(), exclusive=st.booleans())
def test_part_agrees_with_the_loops_on_any_corpus(name: str, data: st.DataObject, exclusive: bool):
    corpus, options = data.draw(corpora(exclusive=exclusive)), data.draw(any_settings(name))
    agree(name, corpus, options, exclusive=exclusive)


@LEFT_OUT
@NORMALIZED
@BOTH
@pytest.mark.parametrize("exclusive", [True, False])
def test_part_agrees_with_the_loops_on_larger_corpora(
    name: str, normalize: str, leave_one_out: bool, exclusive: bool
):
    for seed in range(5):
        rng = random.Random(seed)
        options: dict[str, Any] = {"normalize": normalize, "leave_one_out": leave_one_out}
        if name == "kwls":
            options |= {"k1": rng.uniform(0.1, 5), "b": rng.random(), "k2": rng.uniform(0.1, 5)}
        agree(name, random_corpus(seed, exclusive=exclusive), options, exclusive=exclusive)


@LEFT_OUT
@pytest.mark.parametrize("exclusive", [True, False])
@BOTH
def test_settings_left_out_are_those_of_the_paper(name: str, exclusive: bool, leave_one_out: bool):
    agree(name, SMALL, {"leave_one_out": leave_one_out}, exclusive=exclusive)
    agree(name, WIDE, {"leave_one_out": leave_one_out}, exclusive=exclusive)
    if not leave_one_out:
        agree(name, WIDE, {}, exclusive=exclusive)


@BOTH
def test_auto_is_softmax_for_one_label_and_sigmoid_for_many(name: str):
    for exclusive, normalize in ((True, "softmax"), (False, "sigmoid")):
        found = soft(name, WIDE, exclusive=exclusive, normalize="auto")
        np.testing.assert_array_equal(
            found, soft(name, WIDE, exclusive=exclusive, normalize=normalize)
        )
        close(found, paper.soft_labels(name, WIDE, normalize=normalize))


@given(
    data=st.data(),
    exclusive=st.booleans(),
    epsilon=st.sampled_from([None, 0.0, 0.1, 0.37, 0.9, 1.0]),
)
def test_smooth_agrees_with_the_loops(data: st.DataObject, exclusive: bool, epsilon: float | None):
    corpus = data.draw(corpora(exclusive=exclusive))
    options = {} if epsilon is None else {"epsilon": epsilon}
    found = made("smooth", table_of(corpus), space_of(corpus, exclusive=exclusive), **options)
    close(found, paper.smoothed(corpus, exclusive=exclusive, **options))
    if exclusive:
        np.testing.assert_allclose(found.sum(1, dtype=np.float64), 1, rtol=1e-6)


def test_smooth_by_hand():
    one = made("smooth", table_of(SMALL), space_of(SMALL, exclusive=True), epsilon=0.2)
    close(one, [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    many = made("smooth", table_of(WIDE), space_of(WIDE, exclusive=False))
    close(many[[3, 5]], [[0.95, 0.05, 0.95, 0.95, 0.05], [0.05] * 5])
