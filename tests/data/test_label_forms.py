"""Every form that labels are written in becomes lists of strings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.errors import DataError

from .raw_tables import labels_of, read


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
