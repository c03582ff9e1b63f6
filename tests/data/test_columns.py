"""Raw columns become text, labels and task, and what else is kept of them."""

import pytest

from tagwright.errors import DataError

from .raw_tables import read


def test_text_columns_are_joined_by_a_newline_without_empty_parts() -> None:
    rows, _, found = read(
        {"title": ["A", "", None], "description": ["b", "c", ""], "label": ["x", "y", "x"]}
    )
    assert [row["text"] for row in rows] == ["A\nb", "c", ""]
    assert found[0] == "text: columns 'title', 'description'"
    assert read({"p": ["A"], "q": ["b"], "label": [["x", "y"]]}, text="q,p")[0][0]["text"] == "b\nA"


def test_an_empty_text_is_kept_in_place() -> None:
    assert [
        row["text"] for row in read({"text": ["a", "", None], "label": ["x", "y", "x"]})[0]
    ] == ["a", "", ""]


@pytest.mark.parametrize(("cells", "came"), [(["x", "x"], "only 'x'"), (["", ""], "none")])
def test_fewer_than_two_labels_are_an_error(cells: list[str], came: str) -> None:
    with pytest.raises(
        DataError, match=f"^a.csv, column 'label': a tagger needs two labels or more, found {came}"
    ):
        read({"text": ["a", "b"], "label": cells})


def test_nested_labels_are_an_error_that_says_what_is_expected() -> None:
    with pytest.raises(DataError, match="expected a string, a list of strings or a number"):
        read({"text": ["a"], "label": [{"x": 1}]})


def test_task_one_with_two_labels_is_an_error_that_names_the_row() -> None:
    with pytest.raises(
        DataError, match=r"^a.csv, row 2: 2 labels \('x', 'y'\), but the task is one label a text"
    ):
        read({"text": ["a", "b"], "labels": [["x"], ["x", "y"]]}, task="one")


def test_task_one_makes_no_label_unlabelled_and_task_many_keeps_single_labels() -> None:
    columns = {"text": ["a", "b", "c"], "labels": [["x"], [], ["y"]]}
    assert [row["labels"] for row in read(columns, task="one")[0]] == [["x"], None, ["y"]]
    assert read({"text": ["a", "b"], "label": ["x", "y"]}, task="many")[1] == "many"


def test_unknown_task_is_an_error_that_lists_the_tasks() -> None:
    with pytest.raises(DataError, match=r"unknown task 'multi'.*many, one, tokens"):
        read({"text": ["a"], "label": ["x"]}, task="multi")


def test_a_text_and_labels_beside_the_tokens_are_kept() -> None:
    columns = {
        "text": ["New  York"],
        "tokens": [["New", "York"]],
        "tags": [["B", "I"]],
        "starts": [[0, 5]],
        "labels": ["city"],
    }
    row = read(columns)[0][0]
    assert (row["text"], row["starts"], row["labels"]) == ("New  York", [0, 5], ["city"])


BROKEN = {"tokens": [["a", "b", "c"], ["d"]], "tags": [["I-X", "I-X", "B-Y"], ["I-Y"]]}


def test_broken_tags_are_mended_and_counted() -> None:
    rows, _, found = read(BROKEN)
    assert [row["tags"] for row in rows] == [["B-X", "I-X", "B-Y"], ["B-Y"]]
    assert found[-1] == "mended: 2 tags that cannot stand where they are; --strict names them"
    assert not any(
        "mended" in sentence for sentence in read({**BROKEN, "tags": [["X", "X", "Y"], ["Y"]]})[2]
    )


def test_strict_names_row_and_token_of_every_broken_tag() -> None:
    with pytest.raises(
        DataError, match=r"a.csv, row 1, token 1; a.csv, row 2, token 1; --strict refuses"
    ):
        read(BROKEN, strict=True)


def test_strict_names_the_first_ten_and_says_how_many_more() -> None:
    with pytest.raises(DataError, match=r"row 10, token 1 and 491 more; --strict"):
        read({"tokens": [["a"]] * 501, "tags": [["I-X"]] * 500 + [["I-Y"]]}, strict=True)


def test_id_group_and_weight_are_kept_and_weight_is_a_number() -> None:
    columns = {
        "text": ["a", "b"],
        "label": ["x", "y"],
        "id": ["p", "q"],
        "group": ["g", "g"],
        "weight": ["1", "2.5"],
        "z": [0, 0],
    }
    assert read(columns)[0][1] == {
        "text": "b",
        "labels": ["y"],
        "id": "q",
        "group": "g",
        "weight": 2.5,
    }


def test_a_weight_that_is_no_number_is_an_error_with_its_place() -> None:
    with pytest.raises(
        DataError, match=r"^a.csv, row 2, column 'weight': 'heavy', expected a number"
    ):
        read({"text": ["a", "b"], "label": ["x", "y"], "weight": ["1", "heavy"]})


def test_one_column_cannot_be_text_and_label() -> None:
    columns = {"body": ["a b", "c"], "tags": ["x", "y"]}
    with pytest.raises(DataError, match="column 'tags' cannot be text and label at once"):
        read(columns, text="tags", labels="tags")
    with pytest.raises(DataError, match="'tags'"):
        read({"tags": [["x"], ["y"]]}, text="tags", labels="tags")
