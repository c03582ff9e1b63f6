"""Text and labels are found in raw columns: as named, else by common names, else by content."""

import pyarrow as pa
import pytest

from tagwright.errors import DataError

from .raw_tables import labels_of, read


def test_dictionary_and_large_columns_are_plain_strings_in_the_end() -> None:
    columns = {
        "text": pa.array(["a", "b"], pa.large_string()),
        "label": pa.array(["x", "y"]).dictionary_encode(),
    }
    assert [row["labels"] for row in read(columns)[0]] == [["x"], ["y"]]
    assert labels_of(pa.array([["x"], ["y"]], pa.large_list(pa.large_string()))) == [["x"], ["y"]]


def test_named_flag_columns_are_taken_alone() -> None:
    columns = {"text": ["p", "q"], "label": ["u", "v"], "a": [1, 0], "b": [True, True], "c": [1, 1]}
    rows, _, _ = read(columns, labels="a, b")
    assert [row["labels"] for row in rows] == [["a", "b"], ["b"]]
    assert "unknown" not in rows[0]


def test_without_known_names_the_longest_column_is_text_and_the_recurring_one_labels() -> None:
    columns = {
        "p": ["u", "v", "u", "v"],
        "q": ["a long text", "another text", "a third", "the last"],
        "n": [1, 2, 3, 4],
    }
    assert read(columns)[2][:2] == ("text: column 'q'", "labels: column 'p', 2 labels")


def test_two_columns_that_recur_are_an_error_that_asks() -> None:
    columns = {
        "q": ["some words", "more words", "no words", "words"],
        "p": list("uvuv"),
        "r": list("xxyy"),
    }
    with pytest.raises(
        DataError,
        match=r"columns 'p', 'r' may all hold labels.*Name the label column with --labels",
    ):
        read(columns)


def test_a_missing_column_names_the_nearest_and_lists_all() -> None:
    with pytest.raises(
        DataError,
        match=r"unknown label column 'lable'; did you mean 'label'\? Choices: label, text",
    ):
        read({"text": ["a"], "label": ["x"]}, labels="lable")


def test_large_lists_are_lists() -> None:
    kind = pa.large_list(pa.large_string())
    rows, task, _ = read(
        {"tokens": pa.array([["a", "b"]], kind), "tags": pa.array([["x", "y"]], kind)}
    )
    assert (task, rows[0]["tokens"]) == ("tokens", ["a", "b"])
