"""Text, labels and task are found in raw columns, and every label form becomes lists of strings."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.data.columns import canonical
from tagwright.data.files.faults import Origin
from tagwright.errors import DataError

AUTO: dict[str, Any] = {"text": None, "labels": None, "task": None, "separator": "auto"}


def read(
    columns: dict[str, Any], **options: Any
) -> tuple[list[dict[str, Any]], str, tuple[str, ...]]:
    table = pa.table(columns)
    made, task, found, *_ = canonical(
        table, Origin(("a.csv",), (table.num_rows,)), **AUTO | options
    )
    made.validate(full=True)
    assert made.schema.field("labels").type == pa.list_(pa.string())
    assert made.schema.field("text").type == pa.string()
    return made.to_pylist(), task, found


def labels_of(cells: Any, **options: Any) -> list[list[str] | None]:
    rows, _, _ = read(
        {"text": [f"text {i}" for i in range(len(cells))], "labels": cells}, **options
    )
    return [row["labels"] for row in rows]


def test_one_string_a_text_is_one_label_and_an_empty_cell_is_unlabelled() -> None:
    rows, task, found = read({"body": ["a b", "c", "d"], "category": ["x", "", " y "]})
    assert [row["labels"] for row in rows] == [["x"], None, ["y"]]
    assert task == "one"
    assert found == (
        "text: column 'body'",
        "labels: column 'category', 2 labels",
        "task: one label a text",
    )


@pytest.mark.parametrize("mark", [";", "|", ","])
def test_a_separator_is_found_where_pieces_recur_and_an_empty_cell_is_no_label(mark: str) -> None:
    cells = [f"a{mark}b", "a", f"b{mark} c", "", f"c{mark}a{mark}"]
    rows, task, found = read({"text": list("vwxyz"), "tags": cells})
    assert [row["labels"] for row in rows] == [["a", "b"], ["a"], ["b", "c"], [], ["c", "a"]]
    assert task == "many"
    assert found[1] == f"labels: column 'tags', split at {mark!r}, 3 labels"


@given(
    st.lists(
        st.lists(st.sampled_from(["red", "green ", "blue", "dark red"]), unique=True),
        min_size=1,
        max_size=9,
    )
)
@settings(deadline=None)
def test_a_set_separator_splits_as_python_does(rows: list[list[str]]) -> None:
    cells = ["/".join(row) for row in [*rows, ["red"], ["blue"]]]
    assert labels_of(cells, separator="/") == [
        [part.strip() for part in cell.split("/") if part] for cell in cells
    ]


def test_commas_inside_names_are_not_split() -> None:
    cells = ["Home, Garden", "Books, Music"] * 3
    assert labels_of(cells) == [[cell] for cell in cells]


def test_pieces_that_do_not_recur_are_not_split() -> None:
    cells = ["Home; Garden", "Books; Music"] * 3
    assert labels_of(cells) == [[cell] for cell in cells]


def test_a_comma_needs_pieces_no_more_than_cells() -> None:
    cells = ["A, B", "A, C", "A, D", "B, E"]
    assert labels_of(cells) == [[cell] for cell in cells]


def test_separator_none_never_splits() -> None:
    assert labels_of(["[a]", "[b]"], separator="none") == [["[a]"], ["[b]"]]
    cells = ["a;b", "a", "b", "[a]"]
    assert labels_of(cells, separator="none") == [[cell] for cell in cells]


def test_lists_pass_through_with_null_and_empty_kept_apart() -> None:
    assert labels_of([["a", "b"], [], None, [None, "c;d"]]) == [["a", "b"], [], None, ["c;d"]]


def test_lists_written_into_cells_are_read_as_lists() -> None:
    assert labels_of(["['a', 'b, c']", "[]", '["a"]']) == [["a", "b, c"], [], ["a"]]
    assert labels_of(["[a, b]", "", "[b]"]) == [["a", "b"], [], ["b"]]


def test_integer_classes_are_labels() -> None:
    assert labels_of([3, 1, None]) == [["3"], ["1"], None]
    assert labels_of([3.0, 1.0, None]) == [["3"], ["1"], None]


def test_dictionary_and_large_columns_are_plain_strings_in_the_end() -> None:
    columns = {
        "text": pa.array(["a", "b"], pa.large_string()),
        "label": pa.array(["x", "y"]).dictionary_encode(),
    }
    assert [row["labels"] for row in read(columns)[0]] == [["x"], ["y"]]
    assert labels_of(pa.array([["x"], ["y"]], pa.large_list(pa.large_string()))) == [["x"], ["y"]]


def test_columns_of_0_and_1_are_labels_and_an_empty_cell_is_unknown() -> None:
    columns = {"id": ["1", "0", "1", "0"], "comment_text": ["p", "q", "r", "s"]}
    flags = {
        "toxic": ["1", "0", "", ""],
        "rude": ["1", "false", "TRUE", ""],
        "kind": ["0", "0", "0", ""],
    }
    rows, task, found = read(columns | flags)
    assert [row["labels"] for row in rows] == [["toxic", "rude"], [], ["rude"], None]
    assert [row["unknown"] for row in rows] == [[], [], ["toxic"], ["toxic", "rude", "kind"]]
    assert [row["id"] for row in rows] == ["1", "0", "1", "0"]
    assert task == "many"
    assert found[0] == "text: column 'comment_text'"
    assert found[1].startswith(
        "labels: columns 'toxic', 'rude', 'kind', a 0/1 column a label, empty = unknown"
    )


def test_named_flag_columns_are_taken_alone() -> None:
    columns = {"text": ["p", "q"], "label": ["u", "v"], "a": [1, 0], "b": [True, True], "c": [1, 1]}
    rows, _, _ = read(columns, labels="a, b")
    assert [row["labels"] for row in rows] == [["a", "b"], ["b"]]
    assert "unknown" not in rows[0]


def test_a_flag_cell_that_is_no_flag_is_an_error_with_its_place() -> None:
    with pytest.raises(
        DataError, match=r"^a.csv, row 2, column 'b': 'maybe', expected 0, 1 or empty"
    ):
        read({"text": ["p", "q"], "a": ["1", "0"], "b": ["0", "maybe"]}, labels=["a", "b"])


def test_soft_labels_have_their_values_beside_them() -> None:
    rows, task, found = read(
        {"text": list("wxyz"), "labels": ["a:0.7;b:.25", "a:1", "", "b:0.5;c:0"]}
    )
    assert [row["labels"] for row in rows] == [["a", "b"], ["a"], [], ["b", "c"]]
    assert [row["values"] for row in rows] == [
        pytest.approx(v) for v in ([0.7, 0.25], [1.0], [], [0.5, 0.0])
    ]
    assert "soft" in found[1]
    assert task == "many"


@pytest.mark.parametrize(
    "cells",
    [["a:0.7", "b", "a:0.7"], ["level:1", "level:0", "level:1"], ["a:1.7", "b:0.2", "b:0.2"]],
)
def test_names_with_a_colon_stay_names_unless_all_are_soft(cells: list[str]) -> None:
    assert labels_of(cells) == [[cell] for cell in cells]


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


def test_large_lists_are_lists() -> None:
    kind = pa.large_list(pa.large_string())
    rows, task, _ = read(
        {"tokens": pa.array([["a", "b"]], kind), "tags": pa.array([["x", "y"]], kind)}
    )
    assert (task, rows[0]["tokens"]) == ("tokens", ["a", "b"])


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
