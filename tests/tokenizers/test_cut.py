"""Cutting texts: tokens are runs of the text as given, and begin where they are said to."""

import pyarrow as pa
import pytest

from tagwright.errors import SettingsError
from tagwright.tokenizers.cut import cut, way_of

TEXTS = [
    "The U.S. isn't at 12:30, 1,000.5 or R&D's real-time x_y…",
    "",
    "手机 iPhone15 ケース\u3000赤",
    "  ",
    "été naïve",
]


@pytest.mark.parametrize("way", ["words", "characters"])
def test_tokens_stand_where_they_are_said_to(way):
    made = cut(TEXTS, way)
    for row, text in enumerate(TEXTS):
        tokens = range(made.offsets[row], made.offsets[row + 1])
        words = [(made.words[i].as_py(), made.starts[i]) for i in tokens]
        assert all(text[start : start + len(word)] == word for word, start in words)
        # nothing but white space is left out
        assert "".join(word for word, _ in words) == "".join(text.split())


def test_words_are_cut_as_people_tag_them():
    words = cut(TEXTS[:1], "words").words.to_pylist()
    assert words == [
        *(
            "The",
            "U.S.",
            "isn",
            "'t",
            "at",
            "12:30",
            ",",
            "1,000.5",
            "or",
            "R&D",
            "'s",
            "real-time",
        ),
        *("x", "_", "y", "…"),
    ]


def test_a_script_without_spaces_is_cut_into_characters():
    assert cut(TEXTS[2:3], "words").words.to_pylist() == [
        "手",
        "机",
        "iPhone15",
        "ケ",
        "ー",
        "ス",
        "赤",
    ]


def test_a_null_text_has_no_token():
    assert cut(pa.array(["a", None]), "words").offsets.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("words", "way"), [(["点", "卡", "x"], "characters"), (["a", "tent"], "words"), ([], "words")]
)
def test_how_tokens_were_cut_is_found(words, way):
    assert way_of(pa.array(words, pa.string())) == way


def test_an_unknown_way_is_refused():
    with pytest.raises(SettingsError, match=r"data\.cut"):
        cut(["a"], "wods")


@pytest.mark.parametrize(
    ("way", "text", "word"),
    [("jieba", "我来到北京清华大学", "北京"), ("fugashi", "東京都に住む", "住む")],
)
def test_words_of_chinese_and_japanese_by_their_packages(way, text, word):
    pytest.importorskip(way)
    made = cut([text], way)
    assert word in made.words.to_pylist()
    assert all(
        text[s : s + len(w)] == w for w, s in zip(made.words.to_pylist(), made.starts.tolist())
    )


@pytest.mark.parametrize("way", ["jieba", "fugashi"])
def test_a_missing_package_is_named(way, monkeypatch):
    import sys

    from tagwright.tokenizers import cut as _cut

    _cut._ways.cache_clear()
    monkeypatch.setitem(sys.modules, way, None)
    with pytest.raises(SettingsError, match=f"pip install {way}"):
        cut(["a"], way)
    _cut._ways.cache_clear()


def test_accents_and_vowel_signs_stay_with_their_letter():
    words = cut(["cafe\u0301s हिन्दी \u0301x ที่"], "words").words.to_pylist()
    assert words == ["cafe\u0301s", "हिन्दी", "\u0301", "x", "ที่"]


@pytest.mark.parametrize("way", ["words", "characters", "jieba", "fugashi"])
def test_odd_blanks_and_signs_move_no_token(way):
    if way in ("jieba", "fugashi"):
        pytest.importorskip(way)
    texts = ["  東京都\u3000に\n\n住む😀\u00a0abc\tdef e\u0301", "\u3000", "", "\n \t"]
    made = cut(texts, way)
    assert made.offsets[1:].tolist() == [len(made.words)] * 4
    for word, start in zip(made.words.to_pylist(), made.starts.tolist()):
        assert texts[0][start : start + len(word)] == word
        assert word.strip()
    assert "".join(made.words.to_pylist()) == "".join(texts[0].split())
