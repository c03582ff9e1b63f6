"""The dictionary of words and labels: which labels depend on a word, whom they excuse, and the
file.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.errors import DataError, SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.masks.dependencies import (
    Element,
    Elements,
    dependent,
    excused,
    read_elements,
    said,
    write_elements,
)
from tagwright.tokenizers.word import Word

VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"

# probabilities of the text, without each word, threshold, labels that depend on each word
CASES = [
    ([0.9, 0.1, 0.2], [[0.2, 0.1, 0.2], [0.85, 0.1, 0.2]], 0.5, [[0], []]),
    ([0.95, 0.8, 0.1], [[0.3, 0.75, 0.1], [0.9, 0.1, 0.1]], 0.6, [[0], [1]]),
    ([0.9, 0.1], [[0.89, 0.2]], 0.0, [[0]]),
    ([0.75], [[0.25], [0.125]], 0.5, [[], [0]]),  # a fall of the threshold itself is none
]
SPACE = LabelSpace(names=("a", "b", "c", "d"), counts=(1,) * 4)
ROWS = (
    Element("sea", "a", 3, 0.75),
    Element("sea", "b", 2, 0.5),
    Element("sun", "c", 2, 0.625),
    Element("rain, or", "d", 9, 0.5),
)


def published() -> list[tuple]:
    """The paper's whole list where it lies beside the project."""
    if not VECTORS.exists():
        return []
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["maskloss_elem_dependent_labels_A3"][
        "cases"
    ]
    return [
        (case["p_full"], case["p_each_word_deleted"], case["tau"], case["per_word"])
        for case in cases
    ]


def excused_of(texts, gold, rows=ROWS):
    """Names of the excused labels of each text; gold as strings of names."""
    words = Word(minimum=1).train(texts).encode_words(texts)
    target = csr_array(
        np.array([[name in labels for name in SPACE.names] for labels in gold], np.float32)
    )
    found = excused(words, Elements(tuple(rows)), SPACE, target)
    assert found.dtype == bool
    assert found.shape == target.shape
    return ["".join(names) for names in SPACE.decode(found.toarray())]


@pytest.mark.parametrize(("full", "without", "threshold", "expected"), CASES + published())
def test_labels_depend_on_a_word_as_published(full, without, threshold, expected):
    found = dependent(np.array(full), np.array(without), threshold=threshold)
    assert [np.flatnonzero(row).tolist() for row in found] == expected


@pytest.mark.parametrize("threshold", [-0.1, 1.0, float("nan")])
def test_threshold_that_no_fall_can_have_is_an_error(threshold):
    with pytest.raises(SettingsError, match="at least 0 and below 1"):
        dependent(np.zeros(2), np.zeros((1, 2)), threshold=threshold)


def test_other_labels_of_a_texts_words_are_excused_beside_a_gold_one():
    texts = ["sea sun", "sea sea", "sun hat", "sea sun", "hat", ""]
    assert excused_of(texts, ["a", "b", "c", "abc", "a", "a"]) == ["bc", "a", "", "", "", ""]


def test_text_whose_gold_labels_depend_on_no_word_of_it_excuses_nothing():
    assert excused_of(["sea sun", "sun"], ["d", "a"]) == ["", ""]
    assert excused_of(["sea sun"], ["ad"]) == ["bc"]
    assert excused_of(["sea sun"], [""]) == [""]


def test_labels_that_the_space_lacks_are_left_out_and_said():
    rows = [*ROWS, Element("sea", "bb"), Element("hat", "c")]
    assert excused_of(["sea sun"], ["a"], rows) == ["bc"]
    words = Word(minimum=1).train(["sea sun"]).encode_words(["sea sun"])
    strangers, absent = said(words, Elements(tuple(rows), "e.csv"), SPACE)
    assert strangers == "labels of e.csv that are not in train, left out: bb"
    assert absent.endswith(": rain, or, hat")


def test_elements_of_other_labels_alone_are_an_error_with_a_guess():
    space = LabelSpace(names=("city", "fruit"), counts=(1, 1))
    words = Word(minimum=1).train(["x"]).encode_words(["x"])
    with pytest.raises(
        DataError, match=r"none of its labels is in the data: 'citty' \(did you mean 'city'\?\)"
    ):
        excused(words, Elements((Element("x", "citty"),)), space, csr_array((1, 2)))


def test_file_is_sorted_by_label_and_texts_and_read_back(tmp_path):
    path = tmp_path / "new" / "e.csv"
    rows = [Element("low", "b", 2, 0.5), *ROWS, Element("top", "b", 7, 0.5)]
    write_elements(path, Elements(tuple(rows)))
    assert path.read_text(encoding="utf-8").splitlines() == [
        "word,label,texts,drop",
        "sea,a,3,0.7500",
        "top,b,7,0.5000",
        "low,b,2,0.5000",
        "sea,b,2,0.5000",
        "sun,c,2,0.6250",
        '"rain, or",d,9,0.5000',
    ]
    assert sorted(read_elements(path)) == sorted(rows)
    assert read_elements(path).labels_of("sea") == ("a", "b")


def test_hand_made_file_needs_words_and_labels_alone(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("\ufeffnote,label,word\nmine, a ,sea\n,a,sea\n", encoding="utf-8")
    found = read_elements(path)
    assert list(found) == [Element("sea", "a"), Element("sea", "a")]
    assert found.labels_of("sea") == ("a",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"word;label\nsea;a\n", "line 1: the header must name word and label, found"),
        (b"", "line 1: the header must name"),
        (b"word,label\n", "no elements below the header"),
        (b"word,label\nsea,a\n,b\n", "line 3: word or label is empty"),
        (b"word,label\nsea\n", "line 2: word or label is empty"),
        (b"word,label,texts\nsea,a,many\n", "line 2: texts must be a whole number"),
        (b"word,label\n\xff,a\n", "not UTF-8"),
    ],
)
def test_faulty_file_names_the_line(tmp_path, content, message):
    (tmp_path / "e.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"e\.csv.*{message}"):
        read_elements(tmp_path / "e.csv")


def test_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_elements(tmp_path / "none.csv")
