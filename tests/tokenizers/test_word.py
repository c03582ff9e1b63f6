import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tagwright.errors import ModelError
from tagwright.tokenizers import load_tokenizer
from tagwright.tokenizers.word import Word


def tokens_of(text: str, *, lowercase: bool = True) -> list[str]:
    tokenizer = Word(minimum=1, lowercase=lowercase).train([text])
    return tokenizer.words(tokenizer.encode([text]).ids)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good price, isn't it?", ["good", "price", ",", "isn", "'", "t", "it", "?"]),
        ("手机很好,便宜", ["手", "机", "很", "好", ",", "便", "宜"]),
        ("コーヒーとカメラ。", ["コ", "ー", "ヒ", "ー", "と", "カ", "メ", "ラ", "。"]),
        ("飲むのは", ["飲", "む", "の", "は"]),
        ("新款iPhone15手机", ["新", "款", "iphone15", "手", "机"]),
        ("안녕하세요 여러분", ["안녕하세요", "여러분"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("snake_case\t😂😂\u00a0x", ["snake", "_", "case", "😂", "😂", "x"]),
        ("Cafe\u0301", ["café"]),
    ],
)
def test_text_is_cut_at_spaces_punctuation_and_unspaced_characters(
    text: str, expected: list[str]
) -> None:
    assert tokens_of(text) == expected


def test_case_is_kept_on_request() -> None:
    assert tokens_of("Bank bank", lowercase=False) == ["Bank", "bank"]


def test_vocabulary_goes_by_frequency_then_by_word() -> None:
    texts = ["pear fig fig", "kiwi apple pear plum", "plum zebra fig"]
    assert list(Word().train(texts).vocabulary) == ["[PAD]", "[UNK]", "fig", "pear", "plum"]
    assert list(Word(size=5, minimum=1).train(texts).vocabulary) == [
        "[PAD]",
        "[UNK]",
        "fig",
        "pear",
        "plum",
    ]


def test_words_outside_the_vocabulary_are_id_one() -> None:
    tokenizer = Word().train(["a a b"])
    assert tokenizer.encode(["b a z"]).ids.tolist() == [1, 2, 1]
    assert tokenizer.sizes == (3,)


def test_names_of_special_tokens_in_a_text_are_plain_text() -> None:
    tokenizer = Word(minimum=1).train(["x [PAD] [UNK]"])
    assert tokenizer.words(tokenizer.encode(["[PAD] [UNK]"]).ids) == [
        "[",
        "pad",
        "]",
        "[",
        "unk",
        "]",
    ]


def test_null_and_empty_texts_have_no_tokens_and_keep_their_place() -> None:
    tokenizer = Word(minimum=1).train(pa.chunked_array([["a b", None], ["", "c"]]))
    tokens = tokenizer.encode(pa.chunked_array([[None, "a b"], [" \n", "", "c"]]))
    assert tokens.offsets.tolist() == [0, 0, 2, 2, 2, 3]
    assert tokens.ids.dtype == "int32"
    assert tokenizer.encode([]).offsets.tolist() == [0]


def test_slices_join_into_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a b", "c", "", "a a a", "b"]
    tokenizer = Word(minimum=1).train(texts)
    whole = tokenizer.encode(texts)
    monkeypatch.setattr("tagwright.tokenizers._texts.SLICE", 2)
    sliced = tokenizer.encode(texts)
    assert sliced.ids.tolist() == whole.ids.tolist() == [2, 3, 4, 2, 2, 2, 3]
    assert sliced.offsets.tolist() == whole.offsets.tolist() == [0, 2, 3, 3, 6, 7]


def test_saved_tokenizer_gives_the_same_ids(tmp_path: Path) -> None:
    tokenizer = Word(minimum=1).train(["手机 Good price", "good"])
    tokenizer.save(tmp_path / "tokenizer")
    again = load_tokenizer(tmp_path / "tokenizer")
    assert (
        again.encode(["good 手 new"]).ids.tolist() == tokenizer.encode(["good 手 new"]).ids.tolist()
    )
    assert again.vocabulary == tokenizer.vocabulary


def test_folder_without_tokenizer_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="must hold a tokenizer"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("kind", ["word.Word", "subword.Subword", "char.Char"])
def test_training_is_the_same_in_every_process(kind: str) -> None:
    module, name = kind.split(".")
    program = (
        f"import json; from tagwright.tokenizers.{module} import {name}\ntexts = [' '.join(chr(97 +"
        " i * j % 26) * (j % 3 + 1) + chr(999 + i) for j in range(9)) for i in"
        f" range(80)]\nprint(json.dumps({name}(size=150, minimum=1).train(texts).vocabulary))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert len(json.loads(runs[0])) > 50
