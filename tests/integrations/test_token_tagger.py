"""Tagging tokens from Python."""

import numpy as np
import pytest
from sklearn.base import clone

from tagwright import TokenTagger, load
from tagwright.errors import DataError

from ..tagged_pages import ENCODER, FIT, tagged_rows


def tagger_of(**more):
    return TokenTagger(settings={"encoder": dict(ENCODER), "fit": {**FIT, "epochs": 10}}, **more)


@pytest.fixture(scope="module")
def pages():
    return [list(column) for column in zip(*tagged_rows(80))]


@pytest.fixture(scope="module")
def tagger(pages):
    return tagger_of().fit(*pages)


def test_tags_come_back_as_they_were_given(tagger):
    tokens, tags = zip(*tagged_rows(20, seed=5))
    found = tagger.predict(tokens)
    assert [len(row) for row in found] == [len(row) for row in tokens]
    right = np.mean([a == b for row, truth in zip(found, tags) for a, b in zip(row, truth)])
    assert right > 0.9
    assert tagger.score(tokens, tags) > 0.8


def test_keywords_stand_where_they_are_said_to(tagger):
    texts = [" ".join(tokens) for tokens, _ in tagged_rows(10, seed=6)] + [""]
    found = tagger.keywords(texts)
    assert any(found)
    assert found[-1] == []
    for text, row in zip(texts, found):
        for one in row:
            assert all(
                text[s["start"] : s["end"]].casefold() == one["text"].casefold()
                for s in one["spans"]
            )


def test_a_saved_tagger_says_the_same(tagger, tmp_path):
    tokens = [row for row, _ in tagged_rows(10, seed=7)]
    tagger.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, TokenTagger)
    assert loaded.predict(tokens) == tagger.predict(tokens)


def test_a_clone_learns_the_same(tagger, pages, tmp_path):
    tagger.save(tmp_path / "model")
    again = clone(load(tmp_path / "model")).fit(*pages)
    assert again.predict(pages[0][:5]) == tagger.predict(pages[0][:5])


@pytest.mark.parametrize("objective", ["cecl", "pbp-ee"])
def test_another_objective_of_a_loaded_tagger_is_the_one_that_is_trained(
    tagger, pages, tmp_path, objective
):
    """It trained cross-entropy under the name of the other objective."""
    tagger.save(tmp_path / "model")
    again = clone(load(tmp_path / "model")).set_params(objective=objective, epochs=1).fit(*pages)
    resolved = again.model_.record.resolved
    assert (resolved["objective"], resolved["loss"]["name"]) == (
        objective,
        objective.partition("-")[0],
    )
    assert resolved["weights"]["name"] == (objective.partition("-")[2] or "none")


def test_broken_tags_are_mended(pages):
    tokens, tags = pages
    broken = [[tag.replace("B-", "I-") for tag in row] for row in tags]
    assert any(
        tag.startswith("B-")
        for tag in tagger_of().fit(tokens, broken).model_.heads["main"].space.names
    )


@pytest.mark.parametrize(
    ("tokens", "tags", "told"),
    [
        ([["a", "b"]], [["O"]], r"text 0 \(counted from 0\) has 2 tokens and 1 tags"),
        ([["a"], ["b"]], [["O"]], "2 texts and 1 lists of tags"),
        (["a tent"], [["O", "B-X"]], "tokens must be lists of strings"),
        ([["a", 3]], [["O", "O"]], "tokens must be lists of strings"),
    ],
)
def test_what_does_not_fit_is_told(tokens, tags, told):
    with pytest.raises(DataError, match=told):
        TokenTagger().fit(tokens, tags)


def test_one_text_instead_of_many_is_told(tagger):
    with pytest.raises(DataError, match="put it in a list"):
        tagger.keywords("a red tent")


def test_tags_of_another_length_cannot_be_scored(tagger):
    with pytest.raises(DataError, match="every token wants one tag"):
        tagger.score([["a", "b"]], [["O"]])
