"""`tagwright decide`."""

import json
import shutil

import pytest


@pytest.fixture
def copy(model, tmp_path):
    return shutil.copytree(model, tmp_path / "m")


def test_json_is_one_object_with_the_rule_and_its_metrics(call, copy, texts):
    done = call("decide", copy, texts, "--json")
    assert done.code == 0, done.err
    assert done.json["rule"] == "threshold"
    assert done.json["metrics"]["macro_f1"] >= 0


def test_a_rule_set_by_hand_is_in_the_model(call, copy):
    done = call("decide", copy, "--rule", "fixed", "--set", "probability=0.3")
    assert done.code == 0, done.err
    assert done.out == ""
    assert json.loads((copy / "heads/main/decision.json").read_text())["probability"] == 0.3


def test_thresholds_without_data_are_a_mistake(call, copy):
    done = call("decide", copy)
    assert done.code == 2
    assert "labelled data" in done.err.replace("\n", " ")


def test_a_one_label_model_stays_with_the_highest_score(call, tmp_path, quick):
    path = tmp_path / "one.csv"
    path.write_text(
        "text,label\n"
        + "".join(f"{'paris' if n % 2 else 'apple'} x{n},{n % 2}a\n" for n in range(60))
    )
    assert call("fit", path, "--out", tmp_path / "m", *quick).code == 0
    assert call("decide", tmp_path / "m", path, "--json").json["rule"] == "argmax"
    done = call("decide", tmp_path / "m", "--rule", "zero")
    assert done.code == 2
    assert "take argmax" in done.err.replace("\n", " ")
