"""Words and letters side by side, in two channels of one row of ids."""

from pathlib import Path

import numpy as np
import pytest

from tagwright.errors import SettingsError
from tagwright.tokenizers import load_tokenizer
from tagwright.tokenizers._spelling import CLOSES, FIRST_LETTER, FIRST_WORD, OPENS, START
from tagwright.tokenizers.spelled import Spelled
from tagwright.tokenizers.word import Word


def channel(tokenizer, text: str, number: int) -> list[int]:
    ids = tokenizer.encode([text]).ids[:, number]
    return ids[ids != 0].tolist()


def test_word_channel_reads_as_the_words_after_a_start_mark():
    tokenizer = Spelled(minimum=1).train(["b a b"])
    assert channel(tokenizer, "a b", 0) == [START, FIRST_WORD + 1, FIRST_WORD]
    assert tokenizer.words(tokenizer.encode(["a b"]).ids)[:3] == ["[START]", "a", ""]


def test_letter_channel_spells_every_word_between_its_marks():
    tokenizer = Spelled(minimum=1).train(["ab"])
    a, b = FIRST_LETTER, FIRST_LETTER + 1
    assert channel(tokenizer, "ab b", 1) == [1, 1, OPENS, a, b, CLOSES, 1, OPENS, b, CLOSES]


def test_unknown_word_keeps_its_letters_and_an_unknown_letter_is_unknown():
    tokenizer = Spelled().train(["aa", "aa ab"])
    assert channel(tokenizer, "a", 0) == [START, 1]
    assert channel(tokenizer, "ab", 1) == [1, 1, OPENS, FIRST_LETTER, 1, CLOSES]


def test_most_frequent_words_win_and_the_order_of_texts_has_no_say():
    texts = ["c b a", "c b", "c"]
    assert Spelled(size=5, minimum=1).train(texts).lexicon == ("c", "b")
    assert Spelled().train(texts) == Spelled().train(texts[::-1])


def test_texts_are_cut_like_words():
    texts = [
        "Good price, isn't it?",
        "新款iPhone15手机",
        None,
        "コーヒー สวัสดี",
        "",
        " a_b\u00a0😂😂 Cafe\u0301 \n",
    ]
    words = Word(minimum=1).train(texts).encode(texts).lengths
    tokens = Spelled(minimum=1).train(texts).encode(texts)
    starts = np.add.reduceat(
        tokens.ids[:, 0] > 0, tokens.offsets[:-1].clip(max=len(tokens.ids) - 1)
    )
    assert [
        int(n) - 1 if length else 0 for n, length in zip(starts, tokens.lengths)
    ] == words.tolist()


def test_empty_text_has_no_tokens():
    assert Spelled(minimum=1).train(["a"]).encode(["", None, " "]).lengths.tolist() == [0, 0, 0]


def test_saved_tokenizer_gives_the_same_ids(tmp_path: Path):
    tokenizer = Spelled(minimum=1).train(["Good 手机 price"])
    tokenizer.save(tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded == tokenizer
    assert (
        loaded.encode(["good Prices 手"]).ids.tolist()
        == tokenizer.encode(["good Prices 手"]).ids.tolist()
    )


def test_size_without_room_is_refused():
    with pytest.raises(SettingsError, match="at least 4"):
        Spelled(size=3).train(["a"])


def test_start_of_a_text_is_no_word():
    assert Spelled(minimum=1).train(["a"]).marks == (START,)
    assert Word(minimum=1).train(["a"]).marks == ()
