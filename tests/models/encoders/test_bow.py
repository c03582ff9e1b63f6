"""The bag of words gives its n-grams to the head, and nothing of its own."""

import numpy as np
import pytest
import torch

from tagwright.batches.sparse import SparseRows
from tagwright.errors import ShapeError
from tagwright.models.encoders.bow import BagOfWords
from tagwright.settings.schema import resolve
from tagwright.tokenizers.hashes import Hashes
from tagwright.tokenizers.spelled import Spelled
from tagwright.tokenizers.tokens import Tokens

TEXTS = Tokens(np.array([2, 3, 2, 3, 4, 1, 4], np.int32), np.array([0, 2, 5, 7, 7]))


def test_padding_and_unknown_words_are_no_features():
    learned = BagOfWords.learn(TEXTS, longest=1)
    assert learned["keys_1"].tolist() == [2, 3, 4]


def test_features_of_a_text_are_one_long_and_those_of_an_empty_text_nothing():
    encoder = BagOfWords(BagOfWords.learn(TEXTS))
    rows = encoder.features(TEXTS)
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    np.testing.assert_allclose(lengths, [1, 1, 1, 0], rtol=1e-6)
    assert rows.shape[1] == encoder.width_out


def test_rows_go_through_unchanged_and_there_is_nothing_to_train():
    encoder = BagOfWords(BagOfWords.learn(TEXTS))
    rows = SparseRows.of(encoder.features(TEXTS), np.array([1, 0]))
    pooled = encoder(*rows).pooled
    assert all(torch.equal(a, b) for a, b in zip(pooled, rows))
    assert list(encoder.parameters()) == []


def test_letters_of_a_word_that_train_never_saw_are_features():
    tokenizer = Spelled().train(["walked talked", "walked talked", "walking"])
    texts = tokenizer.encode(["walked talked", "walked talked", "walking"])
    encoder = BagOfWords(BagOfWords.learn(texts), spelling=0.5)
    rows = encoder.features(tokenizer.encode(["stalked", "walked"]))
    words, letters = (
        rows[:, : encoder.grams.width].toarray(),
        rows[:, encoder.grams.width :].toarray(),
    )
    lengths = [np.sqrt((block**2).sum(1)) for block in (words, letters)]
    np.testing.assert_allclose(lengths[0], [1, 1], rtol=1e-6)  # the start mark is a word
    np.testing.assert_allclose(lengths[1], [0.5, 0.5], rtol=1e-6)
    assert encoder.letters.shortest == 3
    assert rows.shape[1] == encoder.width_out


def test_hashed_channels_are_refused():
    with pytest.raises(ShapeError, match="words and letters, got 4 channels"):
        BagOfWords.learn(Hashes().train([]).encode(["a b"]))


def test_one_label_is_a_support_vector_machine_unless_another_objective_is_asked_for():
    alone, other = (
        resolve({"encoder": "bow"}, "one"),
        resolve({"encoder": "bow", "objective": "zlpr"}, "one"),
    )
    assert (alone.objective, alone.embed.name, alone.fit.optimizer) == (
        "squared_hinge",
        "spelled",
        "sgd",
    )
    assert (other.objective, other.embed.name, other.fit.optimizer) == ("zlpr", "spelled", "auto")
    many = resolve({"encoder": "bow"})
    assert (many.objective, many.embed.name, many.fit.optimizer) == ("bce", "word", "auto")
