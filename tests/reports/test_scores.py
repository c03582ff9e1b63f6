import numpy as np
import pytest

from tagwright.reports.scores import score_notes, score_table

COLUMNS = {
    "f1": ("F1", "mean"),
    "recall": ("recall", ""),
    "support": ("true", ""),
    "predicted": ("predicted", ""),
}
SCORES = {"f1": [0.25, np.nan, 0.75], "support": [3, 0, 9], "predicted": [0, 2, 8]}


def made(counts):
    return score_table(
        ["a", "b", "c"], SCORES, COLUMNS, what="type", counts=counts, counted="spans of train"
    )


def test_columns_are_those_that_have_scores():
    assert made([5, 7, 1]).columns == [
        ("type", ""),
        ("train", "spans of train"),
        *(COLUMNS[n] for n in SCORES),
    ]


@pytest.mark.parametrize(
    ("counts", "order", "by"), [([5, 7, 1], "bac", "train"), (None, "cab", "true")]
)
def test_the_most_frequent_come_first_and_the_heading_says_by_what(counts, order, by):
    table = made(counts)
    assert "".join(row[0].text for row in table.rows) == order
    assert table.columns[table.sorted_by][0] == by
    values = [row[table.sorted_by].value for row in table.rows]
    assert values == sorted(values, reverse=True)


def test_undefined_is_a_dash_that_sorts_last():
    (cell,) = (row[2] for row in made([5, 7, 1]).rows if row[0].text == "b")
    assert (cell.text, cell.value) == ("–", -1.0)


def test_notes_count_what_is_silent_and_what_is_absent():
    assert score_notes(SCORES, what="type", split="dev") == [
        "Never predicted though dev has them: 1 type.",
        "Not in dev, so of unknown quality: 1 type.",
    ]
    assert score_notes({"f1": [0.5]}, what="type", split="dev") == []
