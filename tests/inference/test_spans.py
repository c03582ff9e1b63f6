"""Spans and keywords: the characters they stand at, how sure they are, and what is merged."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as runs
from hypothesis import strategies as st

from tagwright.inference import spans as module
from tagwright.inference.model import Scores
from tagwright.inference.spans import FoundSpans, facets, find_spans, given_tokens, keywords_of
from tagwright.tokenizers.cut import cut

NAMES = ("O", "B-X", "I-X", "B-Y", "I-Y")


class Made:
    """As much of a model as `find_spans` asks for."""

    def __init__(self):
        self.primary = SimpleNamespace(space=SimpleNamespace(names=NAMES))


def scores_of(tags, sure):
    """Every token's tag with the probability given."""
    chosen = np.array(tags)[:, None] == np.arange(len(NAMES))
    return Scores(
        chosen.astype(np.float32), (chosen * np.array(sure)[:, None]).astype(np.float32), chosen
    )


def found_in(monkeypatch, texts, tags, sure, way="words"):
    cuts = cut(texts, way)
    monkeypatch.setattr(module, "token_scores", lambda model, words, offsets: scores_of(tags, sure))
    return find_spans(Made(), cuts)


def slow(texts, tags, sure, way="words"):
    """Spans by a loop over tokens: (row, start, end, type, mean)."""
    cuts, result, token = cut(texts, way), [], 0
    for row in range(len(texts)):
        spans = []
        for place in range(cuts.offsets[row], cuts.offsets[row + 1]):
            start, word = int(cuts.starts[place]), cuts.words[place].as_py()
            name = NAMES[tags[token]]
            if name != "O":
                goes_on = (
                    name[0] == "I" and spans and spans[-1][4] == place and spans[-1][2] == name[2:]
                )
                if goes_on:
                    spans[-1][1], spans[-1][4] = start + len(word), place + 1
                    spans[-1][3].append(sure[token])
                else:
                    spans.append([start, start + len(word), name[2:], [sure[token]], place + 1])
            token += 1
        result += [
            (row, start, end, kind, np.mean(values)) for start, end, kind, values, _ in spans
        ]
    return result


WORDS = st.lists(
    st.sampled_from(["paris", "手", "é", "e\u0301t", "😀", "\u3000", "\n", "a-b", "…", "  "]),
    max_size=8,
)


@runs(max_examples=60, deadline=None)
@given(pages=st.lists(WORDS, min_size=1, max_size=4), data=st.data())
def test_spans_are_those_of_a_plain_loop(pages, data):
    texts = [" ".join(page) for page in pages]
    count = len(cut(texts, "words").words)
    tags = data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    sure = [round(0.1 + 0.8 * (token % 7) / 7, 3) for token in range(count)]
    with pytest.MonkeyPatch.context() as patched:
        found = found_in(patched, texts, np.array(tags, int), np.array(sure, float))
    expected = slow(texts, tags, sure)
    assert list(zip(*(column.tolist() for column in found[:4]))) == [one[:4] for one in expected]
    assert found.score.tolist() == pytest.approx([one[4] for one in expected], abs=1e-6)
    for keywords, text in zip(keywords_of(found, texts), texts):
        for one in keywords:
            for span in one["spans"]:
                assert text[span["start"] : span["end"]].casefold() == one["text"].casefold()


def test_how_sure_a_span_is_does_not_hang_on_the_texts_before_it(monkeypatch):
    count = 200_000  # float32 sums of so many lose the third digit
    sure = np.full(count, 0.7312, np.float32)
    found = found_in(monkeypatch, ["x " * count], np.ones(count, int), sure)
    assert len(found.score) == count
    assert np.abs(found.score - sure[0]).max() < 1e-6


def test_spans_that_read_alike_are_one_keyword_with_the_highest_score():
    found = FoundSpans(
        np.array([0, 0, 0, 1]),
        np.array([0, 6, 12, 0]),
        np.array([5, 11, 17, 5]),
        np.array(["X", "X", "Y", "X"], object),
        np.array([0.5, 0.9, 0.95, 0.4]),
    )
    first, second = keywords_of(found, ["Paris PARIS paris", "Paris"])
    assert [(one["text"], one["type"], one["score"]) for one in first] == [
        ("paris", "Y", 0.95),
        ("Paris", "X", 0.9),
    ]
    assert first[1]["spans"] == [{"start": 0, "end": 5}, {"start": 6, "end": 11}]
    assert second[0]["spans"] == [{"start": 0, "end": 5}]


def test_a_text_without_spans_has_no_keyword():
    nothing = FoundSpans(*(np.array([], int) for _ in range(3)), np.array([], object), np.array([]))
    assert keywords_of(nothing, ["a", ""]) == [[], []]
    assert facets([], ";") == {"text": "", "types": "", "scores": "", "spans": ""}


def test_a_separator_within_a_keyword_becomes_a_blank():
    keywords = [
        {
            "text": "a;b",
            "type": "X;Y",
            "score": 0.5,
            "spans": [{"start": 0, "end": 3}, {"start": 9, "end": 12}],
        },
        {"text": "c", "type": "Z", "score": 0.25, "spans": [{"start": 4, "end": 5}]},
    ]
    cells = facets(keywords, ";")
    assert cells == {
        "text": "a b;c",
        "types": "X Y;Z",
        "scores": "0.5;0.25",
        "spans": "0-3,9-12;4-5",
    }
    assert {len(cell.split(";")) for cell in cells.values()} == {2}


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string())])
def test_given_tokens_stand_where_they_are_said_to(kind):
    rows = [["a", "bc"], None, [], ["点", "卡", "x"], ["a", None, "b"]]
    texts, made = given_tokens(
        pa.chunked_array([pa.array(rows[:2], kind), pa.array(rows[2:], kind)])
    )
    assert texts.to_pylist() == ["a bc", "", "", "点卡x", "a  b"]
    assert made.offsets.tolist() == [0, 2, 2, 2, 5, 8]
    for row, text in enumerate(texts.to_pylist()):
        for token in range(made.offsets[row], made.offsets[row + 1]):
            word, start = made.words[token].as_py(), made.starts[token]
            assert text[start : start + len(word)] == word
