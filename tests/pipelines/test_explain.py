"""Attention between labels of a trained model, beside the labels of data."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tagwright.data import read_data
from tagwright.errors import DataError, ModelError, SettingsError
from tagwright.explain.attention import label_attention
from tagwright.inference import model_folder
from tagwright.pipelines import explain
from tagwright.pipelines.explain import as_dict, attention_facts, explain_folder
from tagwright.pipelines.fit import fit_folder
from tagwright.storage.files import json_ready

from ..small_models import WORDS, write_rows
from ..tiny_encoders import write_encoder

LABELS = sorted(WORDS)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture(scope="module")
def folder(encoder, split_source, tmp_path_factory):
    """A model of head cloze, five labels and two layers."""
    out = tmp_path_factory.mktemp("models") / "cloze"
    own = {"name": "pretrained", "path": str(encoder)}
    fit_folder(
        str(split_source),
        {"encoder": own, "objective": "cloze", "fit": {"epochs": 1, "limit": 16}},
        out=out,
    )
    return out


@pytest.fixture(scope="module")
def model(folder):
    return model_folder.load(folder)


@pytest.fixture(scope="module")
def data(split_source):
    return read_data(str(split_source))


def test_attention_is_of_dev_and_the_correlation_of_its_labels(model, data):
    facts = attention_facts(model, data)
    table = data.tables["dev"]
    expected = label_attention(model.network, model.inputs(table["text"]), (1, 2))
    assert list(facts.layers) == [1, 2]
    for layer in (1, 2):
        np.testing.assert_allclose(facts.layers[layer], expected[layer], rtol=1e-6)
    truth = np.array(
        [[label in row for label in LABELS] for row in table["labels"].to_pylist()], float
    )
    np.testing.assert_allclose(facts.correlation, np.corrcoef(truth.T), atol=1e-12)
    np.testing.assert_array_equal(facts.together, truth.T @ truth)
    assert (facts.split, facts.texts, facts.rows, facts.labelled) == (
        "dev",
        len(table),
        len(table),
        len(table),
    )
    assert set(facts.likeness) == set(facts.nearness) == {1, 2}
    assert sorted(facts.shown) == [0, 1, 2, 3, 4]


def test_fewer_texts_are_spread_over_the_split_and_labels_are_of_all(model, data):
    facts = attention_facts(model, data, texts=3, layers="last")
    table = data.tables["dev"]
    texts = table["text"].take([0, round((len(table) - 1) / 2), len(table) - 1])
    np.testing.assert_allclose(
        facts.layers[2], label_attention(model.network, model.inputs(texts), (2,))[2], rtol=1e-6
    )
    assert (facts.texts, facts.rows, facts.labelled) == (3, len(table), len(table))


def test_no_more_than_some_thousand_texts_unless_asked(model, data, monkeypatch):
    monkeypatch.setattr(explain, "TEXTS", 7)
    assert attention_facts(model, data, layers="1").texts == 7
    assert attention_facts(model, data, layers="1", texts=9).texts == 9


def test_labels_are_named_one_by_one_or_with_commas(model, data):
    facts = attention_facts(model, data, layers="1", labels=["metal,city", "tool"])
    assert sorted(facts.shown) == [LABELS.index(name) for name in ("city", "metal", "tool")]
    assert facts.likeness[1].cells == 20  # of all labels, whatever is shown


def test_the_most_frequent_labels_are_shown(model, data, monkeypatch):
    monkeypatch.setattr(explain, "MOST", 3)
    shown, counts = attention_facts(model, data, layers="1").shown, model.heads["main"].space.counts
    assert len(shown) == 3
    assert sorted(counts[label] for label in shown) == sorted(counts)[2:]
    with pytest.raises(SettingsError, match="name 2 to 3 labels to be shown, got 5"):
        attention_facts(model, data, labels=LABELS)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"layers": "1,3"}, "unknown layer '3'.*from 1 to 2"),
        ({"labels": ["citty"]}, "unknown label 'citty'; did you mean 'city'"),
        ({"labels": ["city"]}, "2 to 40 labels to be shown, got 1"),
        ({"texts": 0}, "--texts must be at least 1, got 0"),
        ({"split": "devv"}, "no split 'devv'; it has train, dev, test"),
    ],
)
def test_a_mistake_is_said_before_any_work(model, data, asked, message, monkeypatch):
    monkeypatch.setattr(
        explain, "label_attention", lambda *_, **__: pytest.fail("worked before it looked")
    )
    with pytest.raises((SettingsError, DataError), match=message):
        attention_facts(model, data, **asked)


def test_labels_that_nobody_judged_take_no_part(model, data):
    table = data.tables["dev"]
    unknown = pa.array(
        [
            ["tool"] if number % 2 and "tool" not in row else []
            for number, row in enumerate(table["labels"].to_pylist())
        ]
    )
    facts = attention_facts(
        model, replace(data, tables={"dev": table.append_column("unknown", unknown)}), layers="1"
    )
    plain_one = attention_facts(model, data, layers="1")
    tool = LABELS.index("tool")
    differs = facts.correlation != plain_one.correlation
    assert differs[tool, :tool].any()
    assert not np.delete(np.delete(differs, tool, 0), tool, 1).any()


def test_unlabelled_texts_are_looked_at_but_not_counted(model, data):
    table = data.tables["dev"]
    labels = pa.array(
        [None if number < 5 else row for number, row in enumerate(table["labels"].to_pylist())]
    )
    some = table.set_column(table.column_names.index("labels"), "labels", labels)
    facts = attention_facts(model, replace(data, tables={"dev": some}), layers="1")
    assert (facts.texts, facts.labelled) == (len(table), len(table) - 5)
    nobody = pa.nulls(len(table), pa.list_(pa.string()))
    none = table.set_column(table.column_names.index("labels"), "labels", nobody)
    facts = attention_facts(model, replace(data, tables={"dev": none}), layers="1")
    assert facts.correlation is None
    assert facts.likeness == {}
    assert "no labels" in facts.warnings[0]


def test_labels_without_a_text_are_named(model, data):
    table = data.tables["dev"]
    labels = pa.array(
        [[name for name in row if name != "tool"] + ["odd"] for row in table["labels"].to_pylist()]
    )
    changed = table.set_column(table.column_names.index("labels"), "labels", labels)
    facts = attention_facts(model, replace(data, tables={"dev": changed}), layers="1")
    assert facts.warnings == (
        "labels that the model does not know are left out: odd",
        "labels on none of these texts, or on all, have no correlation: tool",
    )
    assert facts.likeness[1].cells == 12
    assert sorted(facts.shown) == [0, 1, 2, 3, 4]


def test_a_file_of_texts_alone_will_do(folder, tmp_path):
    path = write_rows(
        tmp_path / "texts.csv", [("1", "paris rome"), ("2", "iron")], header=("id", "text")
    )
    facts = explain_folder(folder, str(path), out=tmp_path / "page.html", device="cpu")
    assert (facts.split, facts.texts) == ("all", 2)
    assert facts.correlation is None
    assert "no labels were read: texts.csv: no column looks like labels" in facts.warnings[0]
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_labels_that_are_named_must_be_there(folder, tmp_path):
    path = write_rows(
        tmp_path / "texts.csv", [("1", "paris rome"), ("2", "iron")], header=("id", "text")
    )
    with pytest.raises(DataError, match="unknown label column 'topics'"):
        explain_folder(folder, str(path), device="cpu", columns={"labels": "topics"})
    path = write_rows(tmp_path / "odd.csv", [("1", "paris rome")], header=("id", "body"))
    with pytest.raises(DataError, match=r"the model reads columns text; odd\.csv has id, body"):
        explain_folder(folder, str(path), device="cpu")


def test_a_page_is_not_written_over(folder, split_source, tmp_path):
    page = tmp_path / "deep" / "page.html"
    explain_folder(folder, str(split_source), out=page, device="cpu", layers="1")
    with pytest.raises(SettingsError, match="--overwrite"):
        explain_folder(folder, str(split_source), out=page, device="cpu")
    explain_folder(folder, str(split_source), out=page, device="cpu", layers="2", overwrite=True)
    assert "layer 2 of 2" in page.read_text(encoding="utf-8")


def test_a_model_without_slots_is_refused_before_the_data_are_read(split_source, tmp_path):
    encoder = {"name": "cnn", "width": 8, "filters": 4}
    fit_folder(
        str(split_source), {"encoder": encoder, "fit": {"epochs": 1}}, out=tmp_path / "model"
    )
    with pytest.raises(ModelError, match="no label slots"):
        explain_folder(tmp_path / "model", str(tmp_path / "nowhere.csv"))


def test_chunks_leave_cells_empty_and_the_page_whole(encoder, split_source, tmp_path):
    settings = {
        "encoder": {"name": "pretrained", "path": str(encoder)},
        "objective": "cloze",
        "head": {"name": "cloze", "chunks": 2, "template": "short", "slot_positions": "shared"},
        "fit": {"epochs": 1, "limit": 16},
    }
    fit_folder(str(split_source), settings, out=tmp_path / "model")
    facts = explain_folder(
        tmp_path / "model", str(split_source), out=tmp_path / "page.html", device="cpu"
    )
    assert np.isnan(facts.layers[1]).sum() == 3 * 2 + 2 * 2
    assert facts.likeness[1].cells == 20 - 10
    assert facts.nearness == {}
    assert "cannot see" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_json_has_every_label_and_none_for_nothing(model, data, monkeypatch):
    monkeypatch.setattr(explain, "MOST", 3)
    found = json_ready(as_dict(attention_facts(model, data)))
    assert found["labels"] == LABELS
    assert len(found["shown"]) == 3
    assert [len(layer["attention"]) for layer in found["layers"]] == [5, 5]
    assert set(found["layers"][0]) == {
        "layer",
        "attention",
        "spearman",
        "p_value",
        "p_shuffled",
        "cells",
        "nearness",
    }
    assert len(found["correlation"]) == 5
