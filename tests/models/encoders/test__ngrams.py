"""NGrams against scikit-learn's TfidfVectorizer on the same tokens."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from tagwright.errors import ModelError, ShapeError
from tagwright.models.encoders import _ngrams as module
from tagwright.models.encoders._ngrams import NGrams
from tagwright.tokenizers.tokens import Tokens


def tokens_of(rows: list[list[int]]) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Tokens(np.array([i for row in rows for i in row], np.int32), offsets)


def random_rows(seed: int, *, count: int = 41, words: int = 13) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, words, rng.integers(0, 18)).tolist() for _ in range(count)]


def reference(
    train: list[list[int]], other: list[list[int]], *, longest: int, minimum: int
) -> np.ndarray:
    vectorizer = TfidfVectorizer(
        analyzer=lambda row: [
            " ".join(map(str, row[i : i + n]))
            for n in range(1, longest + 1)
            for i in range(len(row) + 1 - n)
        ],
        sublinear_tf=True,
        min_df=minimum,
    ).fit(train)
    return vectorizer.transform(other).toarray()


def columns_as_a_set(matrix: np.ndarray) -> np.ndarray:
    """The columns in an order of their own, since each side numbers the grams its own way."""
    rounded = np.round(matrix.astype(np.float64), 5)
    return matrix[:, np.lexsort(rounded)]


@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("minimum", [1, 2, 5])
def test_features_equal_scikit_learn(longest: int, minimum: int) -> None:
    train, other = random_rows(1), random_rows(2, words=15)  # words 13 and 14 are unknown to train
    grams = NGrams.learn(tokens_of(train), longest=longest, min_documents=minimum)
    ours = grams.features(tokens_of(train + other)).toarray()
    theirs = reference(train, train + other, longest=longest, minimum=minimum)
    np.testing.assert_allclose(
        columns_as_a_set(ours), columns_as_a_set(theirs), rtol=1e-5, atol=1e-6
    )


def test_a_gram_never_crosses_two_texts() -> None:
    grams = NGrams.learn(tokens_of([[1], [2], [1], [2], [], [2, 1], [2, 1]]))
    assert [keys.tolist() for keys in grams.keys] == [[1, 2], [1 * grams.base + 1]]


def test_an_ignored_word_breaks_grams() -> None:
    grams = NGrams.learn(tokens_of([[1, 0, 2]] * 3), ignore=(0,))
    assert [keys.tolist() for keys in grams.keys] == [[1, 2], []]


def test_arrays_bring_back_the_same_features() -> None:
    tokens = tokens_of(random_rows(3))
    grams = NGrams.learn(tokens, longest=3)
    again = NGrams.from_arrays({name: array.copy() for name, array in grams.arrays().items()})
    assert (again.features(tokens) != grams.features(tokens)).nnz == 0
    assert again.width == grams.width == len(grams.idf)


def test_features_are_float32_with_ascending_int32_columns() -> None:
    tokens = tokens_of(random_rows(4))
    rows = NGrams.learn(tokens).features(tokens)
    assert (rows.dtype, rows.indices.dtype, rows.indptr.dtype) == (np.float32, np.int32, np.int32)
    assert all(
        (np.diff(rows.indices[a:b]) > 0).all() for a, b in zip(rows.indptr[:-1], rows.indptr[1:])
    )


def test_texts_of_unknown_words_are_rows_of_zero() -> None:
    grams = NGrams.learn(tokens_of([[1, 2]] * 2))
    assert grams.features(tokens_of([[9, 9], []])).toarray().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_no_words_at_all_gives_no_columns() -> None:
    tokens = tokens_of([[], []])
    assert NGrams.learn(tokens).features(tokens).shape == (2, 0)


def test_several_features_a_token_are_refused() -> None:
    with pytest.raises(ShapeError, match="one id a token"):
        NGrams.learn(Tokens(np.zeros((3, 2), np.int32), np.array([0, 3])))


@pytest.mark.parametrize(
    "other",
    [
        {"idf": np.ones(1, np.float32)},
        {"idf": np.ones(5, np.float64)},
        {"keys_1": np.array([1.0, 3.0])},
        {"keys_1": np.array([[1, 3]])},
        {"shortest": np.array(0)},
        {"shortest": np.array(3)},
    ],
    ids=str,
)
def test_arrays_that_do_not_belong_together_are_refused(other: dict[str, np.ndarray]) -> None:
    arrays = NGrams.learn(tokens_of([[3, 1], [3, 1, 2], [4, 4]]), min_documents=1).arrays()
    assert NGrams.from_arrays(arrays).width == len(arrays["idf"])
    with pytest.raises(ModelError, match="n-grams"):
        NGrams.from_arrays({**arrays, **other})


@pytest.mark.parametrize("tokens", [1, 20, 100])
def test_grams_that_are_counted_a_few_texts_at_a_time_are_the_same(tokens, monkeypatch):
    train, other = (tokens_of(random_rows(seed)) for seed in (0, 1))
    whole = NGrams.learn(train, longest=3, ignore=(0, 1))
    features = whole.features(other)
    monkeypatch.setattr(module, "TOKENS", tokens)
    parts = NGrams.learn(train, longest=3, ignore=(0, 1))
    assert whole.arrays().keys() == parts.arrays().keys()
    assert all((whole.arrays()[name] == array).all() for name, array in parts.arrays().items())
    found = parts.features(other)
    assert found.shape == features.shape
    for name in ("data", "indices", "indptr"):
        assert (getattr(found, name) == getattr(features, name)).all()
        assert getattr(found, name).dtype == getattr(features, name).dtype


def test_no_text_at_a_time_has_more_tokens_than_are_counted_at_once(monkeypatch):
    monkeypatch.setattr(module, "TOKENS", 20)
    rows = tokens_of(random_rows(2))
    sizes = [len(part.ids) for _, part in module._parts(rows)]
    assert max(sizes) <= 20
    assert sum(sizes) == len(rows.ids)
