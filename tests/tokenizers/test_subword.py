import pytest

from tagwright.tokenizers import Tokeniser
from tagwright.tokenizers.subword import Subword

TEXTS = ["low lower lowest", "new newer newest", "low new, wide"] * 3


def pieces(tokeniser: Tokeniser, text: str) -> list[str]:
    return tokeniser.words(tokeniser.encode([text]).ids)


def test_frequent_words_become_one_piece_and_new_words_several() -> None:
    tokeniser = Subword(size=60).train(TEXTS)
    assert pieces(tokeniser, "low newest") == ["▁low", "▁newest"]
    assert "".join(pieces(tokeniser, "widest")) == "▁widest"
    assert len(pieces(tokeniser, "widest")) > 1


def test_punctuation_stands_alone() -> None:
    assert pieces(Subword(size=60).train(TEXTS), "low, new,") == ["▁low", ",", "▁new", ","]


def test_frequent_sequences_of_unspaced_text_become_pieces() -> None:
    tokeniser = Subword(size=40).train(["买手机", "手机好", "大手机壳", "这手机"] * 2)
    assert pieces(tokeniser, "壳手机") == ["▁", "壳", "手机"]


def test_rare_characters_are_unknown() -> None:
    tokeniser = Subword(size=60).train([*TEXTS, "q"])
    assert pieces(tokeniser, "lowq")[-1] == "[UNK]"
    assert tokeniser.encode(["q"]).ids.tolist()[-1] == 1


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
