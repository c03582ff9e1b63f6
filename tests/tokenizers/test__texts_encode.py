"""Tokens that are cut already: the ids of each by itself, one at least, whatever a tokenizer makes
of it.
"""

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from tagwright.errors import SettingsError
from tagwright.tokenizers import load_tokenizer
from tagwright.tokenizers.char import Char
from tagwright.tokenizers.hashes import Hashes
from tagwright.tokenizers.pretrained import OwnPieces
from tagwright.tokenizers.spelled import Spelled
from tagwright.tokenizers.subword import Subword
from tagwright.tokenizers.word import Word

TEXTS = ["new york is in the state", "paris 手机 état 😀 the very long word"] * 20
WORDS = ["york", "手机", "état", "😀", "", "york", "r&d's", "手", " ", "\u200b", "PARIS"]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    options = {
        "special_tokens": ["<s>", "</s>"],
        "initial_alphabet": alphabet,
        "show_progress": False,
    }
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, **options))
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 1), ("<s>", 0), add_prefix_space=False
    )
    return OwnPieces(tokenizer)


def sentence_pieces():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    options = {
        "special_tokens": ["<s>", "</s>", "<unk>"],
        "unk_token": "<unk>",
        "show_progress": False,
    }
    tokenizer.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=80, **options))
    ends = [("<s>", 0), ("</s>", 1)]
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=ends)
    return OwnPieces(tokenizer)


MADE = {
    "word": lambda: Word(minimum=1).train(TEXTS),
    "word of tokens": lambda: Word(minimum=1).train_tokens(WORDS),
    "char": lambda: Char().train(TEXTS),
    "subword": lambda: Subword(size=80).train(TEXTS),
    "hashes": lambda: Hashes().train([]),
    "bytes": byte_level,
    "sentence pieces": sentence_pieces,
}


def rows_of(made):
    return [made.ids[a:b].tolist() for a, b in zip(made.offsets, made.offsets[1:])]


@pytest.mark.parametrize("kind", MADE)
def test_every_token_has_the_ids_it_has_alone_and_one_at_least(kind):
    tokenizer = MADE[kind]()
    made = tokenizer.encode_tokens(pa.array(WORDS))
    assert len(made) == len(WORDS)
    assert made.lengths.min() >= 1
    for word, ids in zip(WORDS, rows_of(made)):
        assert rows_of(tokenizer.encode_tokens(pa.array([word]))) == [ids]
    assert tokenizer.encode_tokens(pa.array([], pa.string())).offsets.tolist() == [0]


@pytest.mark.parametrize("kind", MADE)
def test_saved_and_loaded_it_gives_the_same_ids(kind, tmp_path):
    tokenizer = MADE[kind]()
    tokenizer.save(tmp_path)
    assert np.array_equal(
        load_tokenizer(tmp_path).encode_tokens(pa.array(WORDS)).ids,
        tokenizer.encode_tokens(pa.array(WORDS)).ids,
    )


@pytest.mark.parametrize("kind", ["bytes", "sentence pieces"])
def test_words_within_a_text_have_the_pieces_they_have_there(kind):
    tokenizer, text = MADE[kind](), "york is in the very long word"
    whole = tokenizer.encode([f"new {text}"]).ids.tolist()
    before, behind = tokenizer.around
    first = tokenizer.encode(["new"]).ids[len(before) : -len(behind)].tolist()
    cut = tokenizer.encode_tokens(pa.array(text.split())).ids.tolist()
    assert whole == [*before, *first, *cut, *behind]
    assert (before, behind) == ((0,), (1,))


def test_a_token_is_one_word_whatever_it_is_made_of():
    tokenizer = Word(minimum=1).train_tokens(["r&d's", "New York", "手机"])
    made = tokenizer.encode_tokens(pa.array(["R&D's", "new york", "手机", "手"]))
    assert made.lengths.tolist() == [1, 1, 1, 1]
    assert tokenizer.words(made.ids) == ["r&d's", "new york", "手机", "[UNK]"]


def test_one_without_any_id_is_unknown():
    made = MADE["word"]().encode_tokens(pa.array(["", "york"]))
    assert made.ids[0] == 1 != made.ids[1]


def test_hashes_do_not_tell_two_forms_of_a_letter_apart():
    made = Hashes().train([]).encode_tokens(pa.array(["caf\u00e9", "cafe\u0301"]))
    assert made.ids[0].tolist() == made.ids[1].tolist()


def test_letters_of_words_are_not_for_tags():
    with pytest.raises(SettingsError, match="to tag tokens take hashes, word, char or subword"):
        Spelled().train(TEXTS).encode_tokens(pa.array(["a"]))
