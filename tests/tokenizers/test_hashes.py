import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from tagwright.errors import SettingsError
from tagwright.tokenizers import load_tokenizer
from tagwright.tokenizers._hashed import _shape
from tagwright.tokenizers.hashes import Hashes
from tagwright.tokenizers.word import Word


def identifier(string: str, size: int) -> int:
    return 2 + zlib.crc32(string.encode()) % (size - 2)


def test_channels_are_word_prefix_suffix_and_shape() -> None:
    tokenizer = Hashes(size=1009, affix_size=101, shape_size=53).train([])
    expected = [
        ("iphone15", "iph", "e15", "xXxxxxdd"),
        ("ok", "ok", "ok", "XX"),
        ("!", "!", "!", "!"),
    ]
    expected_ids = [
        [identifier(s, n) for s, n in zip(row, (1009, 101, 101, 53))] for row in expected
    ]
    assert tokenizer.encode(["iPhone15 OK!"]).ids.tolist() == expected_ids


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("McDonald", "XxXxxxx"),
        ("2026", "dddd"),
        ("1234567", "dddd"),
        ("HELLOOO", "XXXX"),
        ("手", "x"),
    ],
)
def test_shape_keeps_case_and_digits_and_shortens_runs(word: str, shape: str) -> None:
    assert _shape(pa.array([word])).to_pylist() == [shape]


def test_ids_leave_padding_and_unknown_free() -> None:
    ids = Hashes(size=3, affix_size=4, shape_size=5).train([]).encode(["a b c d e f g"]).ids
    assert ids.min() >= 2
    assert (ids.max(0) < (3, 4, 4, 5)).all()


def test_texts_are_cut_like_words() -> None:
    texts = [
        "Good price, isn't it?",
        "新款iPhone15手机",
        None,
        "コーヒー สวัสดี",
        "",
        " a_b\u00a0😂😂 Cafe\u0301 \n",
        "안녕 x",
    ]
    words = Word(minimum=1).train(texts).encode(texts)
    assert Hashes().train([]).encode(texts).offsets.tolist() == words.offsets.tolist()


def test_saved_tokenizer_gives_the_same_ids(tmp_path: Path) -> None:
    tokenizer = Hashes(size=1009, affix=2).train([])
    tokenizer.save(tmp_path)
    assert (
        load_tokenizer(tmp_path).encode(["Good price"]).ids.tolist()
        == tokenizer.encode(["Good price"]).ids.tolist()
    )


def test_size_without_room_is_refused() -> None:
    with pytest.raises(SettingsError, match="at least 3"):
        Hashes(size=2).train([])


@pytest.mark.parametrize("affix", [0, -1, 1001, 10**30])
def test_an_affix_that_no_word_has_is_refused(affix: int) -> None:
    with pytest.raises(SettingsError, match="an affix of 1 to 1000 letters"):
        Hashes(affix=affix).train([])
