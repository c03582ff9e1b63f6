"""Which word every token belongs to, for every tokenizer: ids are those of encode, and words can be
taken out.
"""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.tokenizers import _texts
from tagwright.tokenizers.char import Char
from tagwright.tokenizers.hashes import Hashes
from tagwright.tokenizers.pieces import Pieces
from tagwright.tokenizers.spelled import Spelled
from tagwright.tokenizers.subword import Subword
from tagwright.tokenizers.word import Word

from ..tiny_encoders import write_encoder

TEXTS = [
    "paris rome rome oslo",
    None,
    "",
    "Paris, n0x1!  the tent",
    "手机 rome",
    "  a",
    "a b",
    "rome",
]
MAKERS = {
    "word": Word(minimum=1),
    "cased": Word(minimum=1, lowercase=False),
    "char": Char(minimum=1),
    "subword": Subword(size=40, minimum=1),
    "hashes": Hashes(),
    "spelled": Spelled(minimum=1),
}


@pytest.fixture(scope="module", params=[*MAKERS, "pieces"])
def tokenizer(request, tmp_path_factory):
    if request.param == "pieces":
        return Pieces(
            source=str(write_encoder(tmp_path_factory.mktemp("e") / "bert", "bert"))
        ).train([])
    return MAKERS[request.param].train([text or "" for text in TEXTS])


def without(words, text, place):
    """Ids of a text without the tokens of one of its words."""
    start, stop = words.tokens.offsets[text : text + 2]
    return words.tokens.ids[start:stop][words.place[start:stop] != place]


def test_tokens_are_those_of_encode(tokenizer, monkeypatch):
    plain = tokenizer.encode(pa.chunked_array([TEXTS]))
    for size in (10_000, 3):  # slices change nothing
        monkeypatch.setattr(_texts, "SLICE", size)
        words = tokenizer.encode_words(pa.chunked_array([TEXTS]))
        np.testing.assert_array_equal(words.tokens.ids, plain.ids)
        np.testing.assert_array_equal(words.tokens.offsets, plain.offsets)
        assert words.tokens.ids.dtype == words.word_of.dtype == words.place.dtype == np.int32
        assert len(words.word_of) == len(words.place) == len(plain.ids)
        assert len(set(words.words)) == len(words.words)


@pytest.mark.parametrize("kind", ["word", "cased", "subword", "hashes", "spelled"])
def test_deleted_word_leaves_the_ids_of_the_text_without_it(kind):
    tokenizer = MAKERS[kind].train([text or "" for text in TEXTS])
    text = "paris rome rome oslo unseen"
    words = tokenizer.encode_words(["the tent", text])
    for place, word in enumerate(text.split()):
        left = text.split()
        del left[place]
        np.testing.assert_array_equal(
            without(words, 1, place), tokenizer.encode([" ".join(left)]).ids
        )
        mine = words.place[words.tokens.offsets[1] :] == place
        assert {words.words[i] for i in words.word_of[words.tokens.offsets[1] :][mine]} == {word}


def test_deleted_word_of_an_encoder_leaves_its_special_tokens(tmp_path):
    tokenizer = Pieces(source=str(write_encoder(tmp_path / "bert", "bert"))).train([])
    words = tokenizer.encode_words(["paris rome oslo"])
    assert words.word_of[[0, -1]].tolist() == words.place[[0, -1]].tolist() == [-1, -1]
    np.testing.assert_array_equal(without(words, 0, 1), tokenizer.encode(["paris oslo"]).ids)


def test_places_count_from_zero_in_every_text_and_equal_neighbors_are_two_words(tokenizer):
    words = tokenizer.encode_words(TEXTS)
    for text in range(len(TEXTS)):
        start, stop = words.tokens.offsets[text : text + 2]
        places = words.place[start:stop]
        inside = places[places >= 0]
        assert (np.diff(inside) >= 0).all()
        assert sorted(set(inside.tolist())) == list(range(len(set(inside.tolist()))))
    assert ((words.place >= 0) == (words.word_of >= 0)).all()


def test_words_read_as_the_tokenizer_normalizes():
    assert Word(minimum=1).train(["x"]).encode_words(["Paris, Ünseen"]).words == (
        "paris",
        ",",
        "ünseen",
    )
    assert Word(minimum=1, lowercase=False).train(["x"]).encode_words(["Paris"]).words == ("Paris",)
    assert Hashes().train([]).encode_words(["Paris PARIS"]).words == ("paris",)
    assert Spelled(minimum=1).train(["x"]).encode_words(["Paris"]).words == ("paris",)
    assert Subword(minimum=1).train(["a b"]).encode_words([" Paris x"]).words == ("paris", "x")


def test_white_space_is_a_token_of_char_but_no_word():
    words = Char(minimum=1).train(["a b"]).encode_words(["a  b a"])
    assert words.words == ("a", "b")
    assert words.word_of.tolist() == [0, -1, 1, -1, 0]
    assert words.place.tolist() == [0, -1, 1, -1, 2]
