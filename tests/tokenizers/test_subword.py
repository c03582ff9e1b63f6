import pytest

from tagwright.tokenizers import Tokenizer
from tagwright.tokenizers.subword import Subword

TEXTS = ["low lower lowest", "new newer newest", "low new, wide"] * 3


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    return tokenizer.words(tokenizer.encode([text]).ids)


def test_frequent_words_become_one_piece_and_new_words_several() -> None:
    tokenizer = Subword(size=60).train(TEXTS)
    assert pieces(tokenizer, "low newest") == ["▁low", "▁newest"]
    assert "".join(pieces(tokenizer, "widest")) == "▁widest"
    assert len(pieces(tokenizer, "widest")) > 1


def test_punctuation_stands_alone() -> None:
    assert pieces(Subword(size=60).train(TEXTS), "low, new,") == ["▁low", ",", "▁new", ","]


def test_frequent_sequences_of_unspaced_text_become_pieces() -> None:
    tokenizer = Subword(size=40).train(["买手机", "手机好", "大手机壳", "这手机"] * 2)
    assert pieces(tokenizer, "壳手机") == ["▁", "壳", "手机"]


def test_rare_characters_are_unknown() -> None:
    tokenizer = Subword(size=60).train([*TEXTS, "q"])
    assert pieces(tokenizer, "lowq")[-1] == "[UNK]"
    assert tokenizer.encode(["q"]).ids.tolist()[-1] == 1


@pytest.mark.parametrize("size", [7, 12, 33])
def test_size_is_kept(size: int) -> None:
    assert Subword(size=size).train(TEXTS).sizes[0] <= size


def test_white_space_alone_gives_no_token() -> None:
    assert Subword(size=60).train(TEXTS).encode(["", " \t\n", "low\n\nlow"]).offsets.tolist() == [
        0,
        0,
        0,
        2,
    ]
