"""Tokens with a tag each, and the text that they make."""

import pyarrow as pa
import pytest

from tagwright.data.token_text import join
from tagwright.errors import DataError

from .raw_tables import read


def test_tokens_and_tags_make_a_token_task_with_text_and_starts() -> None:
    rows, task, _ = read({"tokens": [["New", "York"], []], "ner_tags": [[1, 2], []]})
    assert task == "tokens"
    assert rows[0] == {
        "tokens": ["New", "York"],
        "tags": ["1", "2"],
        "text": "New York",
        "starts": [0, 4],
        "labels": None,
    }
    assert rows[1]["text"] == ""


def test_token_strings_are_split_at_blanks_when_the_task_is_set() -> None:
    rows, _, _ = read({"words": ["New York"], "tags": ["B I"]}, task="tokens")
    assert rows[0]["tokens"] == ["New", "York"]


def test_tokens_without_a_tag_each_are_an_error_that_names_the_row() -> None:
    with pytest.raises(DataError, match=r"^a.csv, row 2: 2 tokens but 1 tags"):
        read({"tokens": [["a"], ["b", "c"]], "tags": [["x"], ["y"]]})


def test_tokens_that_nobody_tagged_stay_without_tags() -> None:
    rows, task, _ = read({"tokens": [["a", "b"], ["c"], None], "tags": [["x", "y"], None, None]})
    assert task == "tokens"
    assert [row["tags"] for row in rows] == [["x", "y"], None, None]
    assert [row["text"] for row in rows] == ["a b", "c", ""]


@pytest.mark.parametrize(
    ("tokens", "tags", "place"),
    [
        ([["a", None]], [["x", "y"]], "token 2"),
        ([[], ["a", "b"]], [[], ["x", None]], "tag 2"),
        ([["a"], None], [["x"], ["y"]], "0 tokens but 1 tags"),
    ],
)
def test_a_token_or_tag_that_is_missing_is_an_error_with_its_place(tokens, tags, place) -> None:
    with pytest.raises(DataError, match=rf"^a.csv, row {len(tokens)}[,:] {place}"):
        read({"tokens": tokens, "tags": tags})


@pytest.mark.parametrize(
    ("tokens", "text", "starts"),
    [
        (["点", "卡", "x"], "点卡x", [0, 1, 2]),
        (["点", "card"], "点 card", [0, 2]),
        (["a", "b", "c"], "a b c", [0, 2, 4]),
        ([], "", []),
    ],
)
def test_no_blanks_stand_between_tokens_that_are_mostly_single_cjk_characters(tokens, text, starts):
    texts, places = join(pa.array([["one", "more"], tokens], pa.list_(pa.string())))
    assert texts.to_pylist() == ["one more", text]
    assert places.to_pylist() == [[0, 4], starts]
