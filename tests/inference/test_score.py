"""Scoring a model on labelled data."""

import json

import numpy as np
import pytest
from sklearn.metrics import f1_score, label_ranking_average_precision_score, precision_score

from tagwright.data import read_data
from tagwright.errors import DataError, SettingsError
from tagwright.inference import model_folder
from tagwright.inference import score as module
from tagwright.inference.score import score
from tagwright.pipelines.score import score_folder


@pytest.fixture(scope="module")
def model(trained):
    return model_folder.load(trained)


@pytest.fixture(scope="module")
def held_out(tmp_path_factory, rows_of, write_csv):
    return write_csv(tmp_path_factory.mktemp("held") / "out.csv", rows_of(50, seed=9))


def truth_of(names, rows):
    return np.array([[name in row[2].split(";") for name in names] for row in rows])


def test_metrics_are_those_of_scikit_learn(model, held_out, rows_of):
    rows = rows_of(50, seed=9)
    truth = truth_of(model.heads["main"].space.names, rows)
    said = model.scores([row[1] for row in rows])
    found = score(model, read_data(held_out)).as_dict()
    assert found["rows"] == 50
    assert found["split"] == "all"
    for average in ("micro", "macro", "weighted"):
        expected = f1_score(truth, said.chosen, average=average, zero_division=0)
        assert found["metrics"][f"{average}_f1"] == pytest.approx(expected, abs=1e-8)
    expected = label_ranking_average_precision_score(truth, said.probabilities)
    assert found["metrics"]["lrap"] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("chunk", [1, 7, 50])
def test_the_size_of_the_chunks_changes_nothing(model, held_out, monkeypatch, chunk):
    data = read_data(held_out)
    whole = score(model, data).as_dict()
    monkeypatch.setattr(module, "CHUNK", chunk)
    cut = score(model, data).as_dict()
    assert cut["metrics"] == pytest.approx(whole["metrics"], rel=1e-6, nan_ok=True)


def strange_source(tmp_path, write_csv, rows_of):
    rows = rows_of(20, seed=4)
    return write_csv(
        tmp_path / "s.csv",
        [(i, t, f"{labels};planet" if int(i) % 4 == 0 else labels) for i, t, labels in rows],
    )


def test_labels_the_model_does_not_know_are_dropped_and_counted(
    model, tmp_path, write_csv, rows_of
):
    source = strange_source(tmp_path, write_csv, rows_of)
    plain = score(model, read_data(write_csv(tmp_path / "p.csv", rows_of(20, seed=4)))).as_dict()
    found = score(model, read_data(source)).as_dict()
    assert found["unseen"] == {"planet": 5}
    assert found["metrics"] == pytest.approx(plain["metrics"], nan_ok=True)


def test_counted_as_misses_they_lower_recall_and_not_precision(model, tmp_path, write_csv, rows_of):
    source = strange_source(tmp_path, write_csv, rows_of)
    rows = rows_of(20, seed=4)
    chosen = np.pad(model.scores([row[1] for row in rows]).chosen, ((0, 0), (0, 1)))
    truth = np.pad(truth_of(model.heads["main"].space.names, rows), ((0, 0), (0, 1)))
    truth[::4, -1] = True
    found = score(model, read_data(source), unseen_labels="miss").as_dict()["metrics"]
    assert found["micro_f1"] == pytest.approx(f1_score(truth, chosen, average="micro"))
    assert found["macro_f1"] == pytest.approx(
        f1_score(truth, chosen, average="macro", zero_division=0)
    )
    assert found["micro_precision"] == pytest.approx(
        precision_score(truth, chosen, average="micro")
    )


def test_test_comes_before_dev_and_a_split_can_be_named(model, split_source, rows_of):
    data = read_data(split_source)
    assert score(model, data).split == "test"
    dev = score(model, data, split="dev")
    assert (dev.split, dev.rows) == ("dev", 40)
    said = model.scores([row[1] for row in rows_of(40, seed=1)]).chosen
    truth = truth_of(model.heads["main"].space.names, rows_of(40, seed=1))
    assert dev.as_dict()["metrics"]["micro_f1"] == pytest.approx(
        f1_score(truth, said, average="micro")
    )


def test_a_split_that_is_not_there_is_an_error_that_lists_those_that_are(model, held_out):
    with pytest.raises(DataError, match=r"'dev'.*all"):
        score(model, read_data(held_out), split="dev")


def test_unlabelled_rows_are_left_out_and_counted(model, tmp_path, rows_of):
    rows = [{"text": text, "labels": labels.split(";")} for _, text, labels in rows_of(10, seed=2)]
    for row in rows[:3]:
        row["labels"] = None
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = score(model, read_data(path))
    assert (found.rows, found.unlabelled) == (7, 3)


def test_an_unknown_choice_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(SettingsError, match="mis"):
        score_folder(tmp_path, "nowhere.csv", split=None, unseen="mis", convention="sklearn")
    with pytest.raises(SettingsError, match="sklaern"):
        score_folder(tmp_path, "nowhere.csv", split=None, unseen="drop", convention="sklaern")


def test_the_order_of_columns_and_rows_in_the_file_does_not_matter(
    trained, held_out, tmp_path, write_csv, rows_of
):
    turned = [(labels, text, number) for number, text, labels in reversed(rows_of(50, seed=9))]
    other = write_csv(tmp_path / "t.csv", turned, header=("labels", "text", "id"))
    options = {"split": None, "unseen": "drop", "convention": "sklearn"}
    first, second = (
        score_folder(trained, str(path), **options).as_dict()["metrics"]
        for path in (held_out, other)
    )
    assert first == pytest.approx(second, rel=1e-5, nan_ok=True)


def test_rows_with_one_label_each_are_scored_by_a_model_of_several(
    trained, tmp_path, write_csv, rows_of
):
    source = write_csv(tmp_path / "one.csv", rows_of(30, seed=3, many=False))
    found = score_folder(
        trained, str(source), split=None, unseen="drop", convention="sklearn"
    ).as_dict()
    assert found["unseen"] == {}
    assert found["metrics"]["micro_f1"] > 0.5


@pytest.fixture(scope="module")
def single(single_trained):
    return model_folder.load(single_trained)


def single_rows(rows_of, *, strange):
    """30 rows of one label each, every third of them unknown where `strange`, and two rows without
    a label.
    """
    rows = [
        (i, t, "planet" if strange and int(i) % 3 == 0 else label)
        for i, t, label in rows_of(30, seed=6, many=False)
    ]
    return [*rows, ("30", "paris rome", ""), ("31", "iron", "")]


def test_rows_whose_one_label_is_unknown_are_left_out_and_counted(
    single, tmp_path, write_csv, rows_of
):
    rows = single_rows(rows_of, strange=True)
    found = score(single, read_data(write_csv(tmp_path / "s.csv", rows)))
    known = write_csv(tmp_path / "k.csv", [row for row in rows if row[2] not in ("planet", "")])
    assert (found.rows, found.unknown, found.unlabelled, found.unseen) == (
        20,
        10,
        2,
        {"planet": 10},
    )
    assert "accuracy" in found.as_dict()["metrics"]
    expected = score(single, read_data(known)).as_dict()["metrics"]
    assert found.as_dict()["metrics"] == pytest.approx(expected, nan_ok=True)


def test_counted_as_misses_they_lower_accuracy(single, tmp_path, write_csv, rows_of):
    data = read_data(write_csv(tmp_path / "s.csv", single_rows(rows_of, strange=True)))
    dropped, missed = (score(single, data, unseen_labels=how).as_dict() for how in ("drop", "miss"))
    assert missed["rows"] == 30
    assert missed["metrics"]["accuracy"] == pytest.approx(dropped["metrics"]["accuracy"] * 20 / 30)


def test_confused_texts_are_those_of_the_rows_that_were_measured(
    single, tmp_path, write_csv, rows_of
):
    """Row numbers count every labelled row, also those left out."""
    rows = single_rows(rows_of, strange=True)
    data = read_data(
        write_csv(
            tmp_path / "s.csv",
            [(i, t, "city" if label == "tool" else label) for i, t, label in rows],
        )
    )
    (pair,) = score(single, data).measures.states["confusion"].top(1)
    assert all(rows[row][2] == "tool" for row in pair.rows)


@pytest.mark.parametrize("how", ["drop", "miss"])
def test_labels_that_are_all_unknown_are_a_clear_error(model, single, tmp_path, write_csv, how):
    data = read_data(
        write_csv(tmp_path / "s.csv", [("0", "paris", "planet"), ("1", "rome", "star")])
    )
    for either in (model, single):
        with pytest.raises(DataError, match=r"knows none of its 2 labels.*it knows city"):
            score(either, data, unseen_labels=how)


@pytest.mark.parametrize(("rows", "size"), [(7, 1 << 20), (8192, 1), (8192, 300)])
def test_chunks_of_few_rows_or_bytes_give_the_same_metrics(
    model, held_out, monkeypatch, rows, size
):
    data = read_data(held_out)
    whole = score(model, data).as_dict()
    monkeypatch.setattr(module, "CHUNK", rows)
    monkeypatch.setattr(module, "CHUNK_BYTES", size)
    found = score(model, data).as_dict()
    assert found.keys() == whole.keys()
    assert found["metrics"] == pytest.approx(whole["metrics"], abs=1e-6, nan_ok=True)
    sizes = np.array([4 + len(text) for text in data.first["text"].to_pylist()])
    chunks = list(module._chunks(np.arange(len(sizes)), data.first["text"]))
    assert len(chunks) > 1
    assert all(
        len(chunk) == 1 or (len(chunk) <= rows and sizes[chunk].sum() <= size) for chunk in chunks
    )
