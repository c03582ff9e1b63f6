"""Labelled data are read as the data of a model were, and what cannot be scored by is refused."""

import pyarrow as pa
import pytest

from tagwright.data import Data
from tagwright.data.find_columns import MissingColumn
from tagwright.errors import DataError
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import (
    has_answers,
    known_rows,
    labelled_rows,
    own_columns,
    read_for_model,
)
from tagwright.labels.space import LabelSpace


def test_the_embedded_set_is_read_by_its_own_columns(trained):
    """The model knows the columns of the file it was trained on; the embedded set has others."""
    model = model_folder.load(trained)
    assert read_for_model(model, "shop", {"text": None, "separator": "auto"}).source == "shop"
    with pytest.raises(DataError, match="leave text and labels out"):
        read_for_model(model, "shop", {"text": "title"})


def test_columns_that_the_model_reads_and_the_data_lack_are_said(trained, tmp_path, write_csv):
    path = write_csv(tmp_path / "n3.csv", [("1", "paris", "city")], header=("id", "msg", "labels"))
    with pytest.raises(
        DataError,
        match=r"the model reads columns text; n3\.csv has id, msg, labels; name them with",
    ):
        read_for_model(model_folder.load(trained), str(path), {})


def some_data(tables, task="many"):
    """Data whose tables have these labels, with a text for each."""
    made = {
        name: pa.table(
            {
                "text": pa.array([f"text {n}" for n in range(len(labels))], pa.string()),
                "labels": pa.array(labels, pa.list_(pa.string())),
            }
        )
        for name, labels in tables.items()
    }
    return Data(tables=made, task=task, source="here")


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["train", "dev", "test"], "test"), (["train", "dev"], "dev"), (["all"], "all")],
)
def test_rows_are_those_of_test_where_there_is_one_and_carry_labels(names, expected):
    data = some_data({name: [["a"], None, []] for name in names})
    name, table = labelled_rows(data, None)
    assert (name, table["labels"].to_pylist()) == (expected, [["a"], []])
    assert labelled_rows(data, names[0])[0] == names[0]


def test_a_split_that_is_not_there_or_has_no_labels_is_refused():
    data = some_data({"train": [["a"]], "dev": [None]})
    with pytest.raises(DataError, match=r"here has no split 'test'; it has train, dev"):
        labelled_rows(data, "test")
    with pytest.raises(DataError, match="here: no row of dev carries a label"):
        labelled_rows(data, None)
    assert has_answers(data, "train")
    assert not has_answers(data, "dev")


@pytest.mark.parametrize(("exclusive", "expected"), [(True, [0, 2]), (False, [0, 1, 2])])
def test_a_text_with_a_strange_label_is_measured_unless_labels_exclude_each_other(
    exclusive, expected
):
    space = LabelSpace(names=("a", "b"), counts=(1, 1), exclusive=exclusive)
    table = some_data({"all": [["a"], ["strange"], ["b"]]}).tables["all"]
    assert known_rows(space, table, "here").tolist() == expected
    with pytest.raises(DataError, match=r"here: the model knows none of its 1 labels.*knows a, b"):
        known_rows(space, table.slice(1, 1), "here")


def test_a_column_that_was_given_is_not_said_to_be_the_models_own(trained):
    model, lost = model_folder.load(trained), {"what": "text", "columns": ["id", "msg"]}
    with (
        pytest.raises(DataError, match=r"the model reads columns text; a\.csv has id, msg"),
        own_columns(model, "some/a.csv", {}),
    ):
        raise MissingColumn("unknown", **lost)
    with pytest.raises(MissingColumn), own_columns(model, "some/a.csv", {"text": "body"}):
        raise MissingColumn("unknown", **lost)
