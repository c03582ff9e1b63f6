"""The tokenizer of a pretrained encoder: its ids, its special tokens, and nothing of a text taken
for them.
"""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.errors import ModelError, SettingsError
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.tokenizers import load_tokenizer
from tagwright.tokenizers.pieces import Pieces
from tagwright.tokenizers.pretrained import OwnPieces, read_pieces

from ..tiny_encoders import vocabulary, write_encoder

TEXTS = ["a tent", None, "", "paris [SEP] [PAD] rome", "x" * 3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoders") / "roberta", "roberta")


@pytest.fixture(scope="module")
def tokenizer(folder):
    return Pieces(source=str(folder)).train([])


def test_specials_stand_around_every_text(tokenizer):
    known = vocabulary(1)
    tokens = tokenizer.encode(pa.chunked_array([TEXTS]))
    rows = [tokens.ids[a:b].tolist() for a, b in zip(tokens.offsets, tokens.offsets[1:])]
    assert rows[0] == [known[piece] for piece in ("[CLS]", "a", "tent", "[SEP]")]
    assert rows[1] == rows[2] == [known["[CLS]"], known["[SEP]"]]
    assert tokens.ids.dtype == np.int32
    assert tokenizer.specials == (1, 1)


def test_letters_of_a_special_token_are_letters(tokenizer):
    known = vocabulary(1)
    ids = tokenizer.encode([TEXTS[3]]).ids[1:-1].tolist()
    assert not {known["[SEP]"], known["[PAD]"]} & set(ids)
    assert known["rome"] == ids[-1]


def test_saved_and_loaded_is_the_same(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    other = load_tokenizer(tmp_path)
    assert np.array_equal(other.encode(TEXTS).ids, tokenizer.encode(TEXTS).ids)
    assert (other.sizes, other.specials, other.vocabulary) == (
        tokenizer.sizes,
        tokenizer.specials,
        tokenizer.vocabulary,
    )
    assert other.words([0, 1, 2]) == ["[CLS]", "[PAD]", "[SEP]"]


def test_padding_and_truncation_of_the_file_are_off(folder, tmp_path):
    import shutil

    from tokenizers import Tokenizer

    shutil.copytree(folder, tmp_path / "cut")
    file = str(tmp_path / "cut" / "tokenizer.json")
    tokenizer = Tokenizer.from_file(file)
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=9)
    tokenizer.save(file)
    assert read_pieces(tmp_path / "cut").encode(["a tent a tent", "a"]).lengths.tolist() == [6, 3]


def test_tokenizer_of_a_larger_encoder_is_refused(tmp_path, tokenizer):
    small = write_encoder(tmp_path / "small", "bert", vocab_size=50)
    with pytest.raises(
        ModelError, match=r"ids up to \d+, the encoder vectors for 50; they do not belong together"
    ):
        Pretrained.learn(tokenizer.encode(["a"]), tokenizer, path=str(small))


def test_folder_without_a_tokenizer_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(ModelError, match=r"has no tokenizer \(tokenizer.json"):
        read_pieces(tmp_path)


def test_tokenizer_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="has no tokenizer that transformers can read"):
        read_pieces(tmp_path)


def test_pieces_without_a_pretrained_encoder_are_refused():
    with pytest.raises(SettingsError, match="belongs to a pretrained encoder"):
        Pieces(source=None).train(["a"])


def test_special_tokens_are_no_words(tokenizer):
    known = vocabulary(1)
    assert set(tokenizer.marks) == {
        known[piece] for piece in ("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
    }
    tokens = tokenizer.encode([TEXTS[0]]).ids
    assert tokens[~np.isin(tokens, tokenizer.marks)].tolist() == [known["a"], known["tent"]]


@pytest.mark.parametrize(
    ("special", "found"),
    [(["[PAD]", "[MASK]"], "[MASK]"), (["<pad>", "<mask>"], "<mask>"), (["<|mask|>"], "<|mask|>")],
)
def test_mask_is_found_among_the_special_tokens(special, found):
    from tokenizers import Tokenizer, models

    tokenizer = Tokenizer(models.WordLevel({"mask": 0, "[PAD]": 1}, unk_token="[PAD]"))
    tokenizer.add_special_tokens(special)
    tokenizer = OwnPieces(tokenizer)
    assert tokenizer.mask == tokenizer.vocabulary[found] != 0


def test_a_piece_that_reads_mask_is_none():
    from tokenizers import Tokenizer, models

    tokenizer = Tokenizer(models.WordLevel({"mask": 0, "[MASK]": 1, "[PAD]": 2}, unk_token="[PAD]"))
    assert OwnPieces(tokenizer).mask is None
