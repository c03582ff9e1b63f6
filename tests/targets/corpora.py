"""Corpora for the tests of soft labels: fixed ones, random ones, and how they are handed to the
parts.
"""

import random
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from scipy.sparse import issparse

from tagwright.labels.space import LabelSpace
from tagwright.tokenizers.tokens import Tokens

from .paper import Corpus

FIRST_WORD = 2  # 0 is padding, 1 may be the unknown word

# three texts of two words under the labels 0, 0, 1
SMALL = Corpus([[2], [2, 3], [3]], [{0}, {0}, {1}], 2)
# word 2 is under every label that has texts, word 5 in one text; label 3 has one text, label 4
# none; a text without words, one without labels
WIDE = Corpus(
    [[2, 2, 3], [], [2, 4, 4, 4], [3, 2], [5], [3, 3, 6, 2], [6, 4]],
    [{0}, {1}, {1, 2}, {2, 0, 3}, {0}, set(), {1}],
    5,
)


def space_of(corpus: Corpus, *, exclusive: bool) -> LabelSpace:
    counts = tuple(len(corpus.of_label(m)) for m in range(corpus.p))
    return LabelSpace(
        names=tuple(f"label {m:02}" for m in range(corpus.p)), counts=counts, exclusive=exclusive
    )


def table_of(corpus: Corpus) -> pa.Table:
    names = space_of(corpus, exclusive=False).names
    return pa.table(
        {
            "labels": pa.array(
                [[names[m] for m in row] for row in corpus.labels], pa.list_(pa.string())
            )
        }
    )


def tokens_of(texts: Sequence[Sequence[int]]) -> Tokens:
    offsets = np.cumsum([0, *map(len, texts)])
    return Tokens(
        np.array([word for text in texts for word in text], np.int32), offsets.astype(np.int64)
    )


def made(
    name: str, table: pa.Table, space: LabelSpace, *facts: Tokens, **options: Any
) -> np.ndarray:
    """What the part makes, dense."""
    found = getattr(import_module(f"tagwright.targets.{name}"), name)(
        table, space, *facts, **options
    )
    assert found.dtype == np.float32
    assert found.shape == (table.num_rows, len(space))
    return found.toarray() if issparse(found) else found


def soft(name: str, corpus: Corpus, *, exclusive: bool = True, **options: Any) -> np.ndarray:
    """Soft labels (n, L) of kwls or tfidf."""
    return made(
        name,
        table_of(corpus),
        space_of(corpus, exclusive=exclusive),
        tokens_of(corpus.texts),
        **options,
    )


def close(found: np.ndarray, expected: Sequence[Sequence[float]] | np.ndarray) -> None:
    np.testing.assert_allclose(found, np.reshape(expected, found.shape), rtol=1e-6, atol=1e-30)


@st.composite
def corpora(draw: st.DrawFn, *, exclusive: bool) -> Corpus:
    p, n = draw(st.integers(2, 5)), draw(st.integers(1, 7))
    text = st.lists(st.integers(FIRST_WORD, FIRST_WORD + draw(st.integers(0, 6))), max_size=8)
    label = st.integers(0, p - 1)
    labels = label.map(lambda m: {m}) if exclusive else st.sets(label)
    # without a word in all of them, parts refuse
    texts = draw(st.lists(text, min_size=n, max_size=n).filter(any))
    return Corpus(texts, draw(st.lists(labels, min_size=n, max_size=n)), p)


def any_settings(name: str) -> st.SearchStrategy[dict[str, Any]]:
    options: dict[str, st.SearchStrategy[Any]] = {
        "leave_one_out": st.booleans(),
        "normalize": st.sampled_from(["softmax", "sigmoid"]),
    }
    if name == "kwls":
        factor = st.sampled_from([0.01, 0.5, 1.2, 2.0, 7.0, 1e6])
        options |= {"k1": factor, "k2": factor, "b": st.sampled_from([0.0, 0.3, 0.75, 1.0])}
    return st.fixed_dictionaries({}, optional=options)


def random_corpus(seed: int, *, exclusive: bool) -> Corpus:
    """Some dozen texts of words as frequent as words are, with labels that are rare and labels that
    are not.
    """
    rng = random.Random(seed)
    n, p, vocabulary = rng.randint(10, 25), rng.randint(2, 7), range(FIRST_WORD, 40)
    often = [1 / (rank + 1) for rank in range(len(vocabulary))]
    texts = [rng.choices(vocabulary, often, k=rng.choice([0, 1, 4, 15])) for _ in range(n)]
    counts = [1] * n if exclusive else [rng.randint(0, p) for _ in range(n)]
    return Corpus(texts, [set(rng.choices(range(p), often[:p], k=count)) for count in counts], p)
