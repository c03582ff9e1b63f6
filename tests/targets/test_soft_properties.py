"""What must hold of soft labels whatever the corpus, and what counts as a text, a word and a
label.
"""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.tokenizers.tokens import Tokens

from .corpora import (
    FIRST_WORD,
    SMALL,
    WIDE,
    close,
    corpora,
    made,
    random_corpus,
    soft,
    space_of,
    table_of,
    tokens_of,
)
from .paper import Corpus

ALL = pytest.mark.parametrize("name", ["kwls", "tfidf", "smooth"])
BOTH = pytest.mark.parametrize("name", ["kwls", "tfidf"])
NORMALIZED = pytest.mark.parametrize("normalize", ["softmax", "sigmoid"])
LEFT_OUT = pytest.mark.parametrize("leave_one_out", [False, True])


@LEFT_OUT
@BOTH
@settings(deadline=None)
@given(corpus=corpora(exclusive=False), data=st.data())
def test_permuted_rows_give_permuted_soft_labels(
    name: str, leave_one_out: bool, corpus: Corpus, data: st.DataObject
):
    order = data.draw(st.permutations(range(len(corpus.texts))))
    moved = Corpus([corpus.texts[i] for i in order], [corpus.labels[i] for i in order], corpus.p)
    close(
        soft(name, moved, leave_one_out=leave_one_out),
        soft(name, corpus, leave_one_out=leave_one_out)[order],
    )


@LEFT_OUT
@BOTH
@settings(deadline=None)
@given(corpus=corpora(exclusive=False), data=st.data())
def test_renamed_words_change_nothing(
    name: str, leave_one_out: bool, corpus: Corpus, data: st.DataObject
):
    words = sorted({word for text in corpus.texts for word in text})
    new = st.lists(
        st.integers(FIRST_WORD, 5000), min_size=len(words), max_size=len(words), unique=True
    )
    names = dict(zip(words, data.draw(new)))
    renamed = corpus._replace(texts=[[names[word] for word in text] for text in corpus.texts])
    close(
        soft(name, renamed, leave_one_out=leave_one_out),
        soft(name, corpus, leave_one_out=leave_one_out),
    )


@LEFT_OUT
@BOTH
@settings(deadline=None)
@given(corpus=corpora(exclusive=False), data=st.data())
def test_permuted_labels_permute_the_columns(
    name: str, leave_one_out: bool, corpus: Corpus, data: st.DataObject
):
    order = data.draw(st.permutations(range(corpus.p)))  # label m becomes order[m]
    moved = corpus._replace(labels=[{order[m] for m in row} for row in corpus.labels])
    close(
        soft(name, moved, leave_one_out=leave_one_out)[:, order],
        soft(name, corpus, leave_one_out=leave_one_out),
    )


@LEFT_OUT
@BOTH
def test_order_of_the_words_does_not_count(name: str, leave_one_out: bool):
    corpus = random_corpus(7, exclusive=False)
    mixed = corpus._replace(
        texts=[random.Random(3).sample(text, len(text)) for text in corpus.texts]
    )
    close(
        soft(name, mixed, leave_one_out=leave_one_out),
        soft(name, corpus, leave_one_out=leave_one_out),
    )


@NORMALIZED
@BOTH
@settings(deadline=None)
@given(corpus=corpora(exclusive=False), data=st.data())
def test_text_left_out_gets_the_same_whatever_its_own_labels(
    name: str, normalize: str, corpus: Corpus, data: st.DataObject
):
    row = data.draw(st.integers(0, len(corpus.texts) - 1))
    other = data.draw(st.sets(st.integers(0, corpus.p - 1)))
    relabelled = corpus._replace(labels=[*corpus.labels[:row], other, *corpus.labels[row + 1 :]])
    options: dict[str, Any] = {"normalize": normalize, "leave_one_out": True}
    close(soft(name, relabelled, **options)[row], soft(name, corpus, **options)[row])


@BOTH
def test_text_that_stays_in_votes_for_its_own_labels(name: str):
    relabelled = WIDE._replace(labels=[{1}, *WIDE.labels[1:]])
    before, after = soft(name, WIDE)[0], soft(name, relabelled)[0]
    assert before[0] > after[0]
    assert before[1] < after[1]


@NORMALIZED
@BOTH
def test_words_of_no_other_text_say_nothing_when_it_is_left_out(name: str, normalize: str):
    found = soft(name, WIDE, normalize=normalize, leave_one_out=True)
    close(found[4], [0.2] * 5 if normalize == "softmax" else [0.5] * 5)


@NORMALIZED
@BOTH
def test_lone_text_left_out_gets_uniform_labels_not_nan(name: str, normalize: str):
    found = soft(name, Corpus([[2, 3, 3]], [{1}], 4), normalize=normalize, leave_one_out=True)
    close(found, [[0.25] * 4 if normalize == "softmax" else [0.5] * 4])


@LEFT_OUT
@NORMALIZED
@BOTH
@pytest.mark.parametrize(
    "corpus",
    [
        Corpus([[2], [3, 2], [2]], [set(), set(), set()], 2),
        Corpus([[2, 2], [], []], [set(), {0}, {1}], 2),
    ],
    ids=["no labels", "words and labels apart"],
)
def test_nothing_to_count_gives_uniform_labels_not_nan(
    name: str, normalize: str, leave_one_out: bool, corpus: Corpus
):
    close(soft(name, corpus, normalize=normalize, leave_one_out=leave_one_out), [[0.5, 0.5]] * 3)


@LEFT_OUT
@BOTH
def test_texts_without_any_word_are_refused(name: str, leave_one_out: bool):
    with pytest.raises(DataError, match="the 3 texts have none"):
        soft(name, Corpus([[], [], []], [{0}, {1}, {1}], 2), leave_one_out=leave_one_out)


@pytest.mark.parametrize("b", [0.0, 0.75, 1.0])
@LEFT_OUT
def test_label_whose_texts_have_no_words_is_finite(leave_one_out: bool, b: float):
    corpus = Corpus([[2, 3], [], [3]], [{0}, {1}, {0}], 3)
    assert np.isfinite(soft("kwls", corpus, b=b, leave_one_out=leave_one_out)).all()


def test_word_of_every_label_is_worth_nothing_to_tfidf_and_something_to_kwls():
    corpus = Corpus([[2, 2, 2], [2], []], [{0}, {1}, {0}], 2)
    close(soft("tfidf", corpus), [[0.5, 0.5]] * 3)
    assert soft("kwls", corpus)[0, 0] > 0.5


@LEFT_OUT
@BOTH
def test_padding_is_no_word(name: str, leave_one_out: bool):
    padded = WIDE._replace(
        texts=[[0, *text, 0, 0][: len(text) + 1 + row % 3] for row, text in enumerate(WIDE.texts)]
    )
    close(
        soft(name, padded, leave_one_out=leave_one_out),
        soft(name, WIDE, leave_one_out=leave_one_out),
    )


@LEFT_OUT
@BOTH
def test_word_of_a_token_is_its_first_feature(name: str, leave_one_out: bool):
    ids, offsets = tokens_of(WIDE.texts)
    others = np.random.default_rng(0).integers(0, 50, (len(ids), 2), dtype=np.int32)
    several = Tokens(np.column_stack([ids, others]), offsets)
    found = made(
        name, table_of(WIDE), space_of(WIDE, exclusive=True), several, leave_one_out=leave_one_out
    )
    np.testing.assert_array_equal(found, soft(name, WIDE, leave_one_out=leave_one_out))


def same_for(name: str, labels: pa.Array | pa.ChunkedArray) -> None:
    """These labels must give what those of WIDE give."""
    space, facts = (
        space_of(WIDE, exclusive=True),
        () if name == "smooth" else (tokens_of(WIDE.texts),),
    )
    found = made(name, pa.table({"labels": labels}), space, *facts)
    np.testing.assert_array_equal(found, made(name, table_of(WIDE), space, *facts))


@ALL
def test_label_named_twice_counts_once(name: str):
    same_for(
        name,
        pa.array(
            [[*row, *row] for row in table_of(WIDE)["labels"].to_pylist()], pa.list_(pa.string())
        ),
    )


@ALL
def test_label_outside_the_space_is_no_label(name: str):
    same_for(
        name,
        pa.array(
            [[*row, "strange"] for row in table_of(WIDE)["labels"].to_pylist()],
            pa.list_(pa.string()),
        ),
    )


@ALL
def test_unlabelled_text_is_a_text_without_labels(name: str):
    same_for(
        name,
        pa.array(
            [row or None for row in table_of(WIDE)["labels"].to_pylist()], pa.list_(pa.string())
        ),
    )


@ALL
def test_table_in_chunks_is_the_whole_table(name: str):
    same_for(name, pa.concat_tables([table_of(WIDE)[:2], table_of(WIDE)[2:]])["labels"])


@ALL
def test_no_rows_give_no_soft_labels(name: str):
    empty = Corpus([], [], 3)
    facts = () if name == "smooth" else (tokens_of([]),)
    made(name, table_of(empty), space_of(empty, exclusive=True), *facts)


@ALL
def test_parts_leave_what_they_are_given_as_it_was(name: str):
    tokens = tokens_of(SMALL.texts)
    tokens.ids.flags.writeable = tokens.offsets.flags.writeable = False
    made(
        name,
        table_of(SMALL),
        space_of(SMALL, exclusive=True),
        *(() if name == "smooth" else (tokens,)),
    )
