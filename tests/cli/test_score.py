"""`tagwright score`."""

import json


def test_json_is_one_object_with_metrics_split_and_convention(call, model, texts):
    done = call("score", model, texts, "--json")
    assert done.code == 0, done.err
    assert done.json["split"] == "all"
    assert done.json["convention"] == "sklearn"
    assert done.json["rows"] == 90
    names = {
        "subset_accuracy",
        "micro_f1",
        "macro_f1",
        "micro_f2",
        "macro_f2",
        "example_f1",
        "lrap",
        "macro_average_precision",
    }
    assert names | {"ranking_loss", "hamming_loss", "micro_jaccard"} <= set(done.json["metrics"])


def test_the_convention_is_said(call, model, texts):
    assert call("score", model, texts, "--convention", "paper", "--json").json["convention"] == "paper"


def test_the_result_goes_to_stdout_with_the_counts_of_each_band(call, model, texts):
    done = call("score", model, texts)
    assert done.code == 0, done.err
    assert done.err == ""
    assert "micro f1" in done.out
    counts = json.loads((model / "heads/main/labels.json").read_text())["counts"]
    assert f"{min(counts)} to {max(counts)}" in done.out


def test_a_model_of_a_file_is_scored_on_the_embedded_set(call, model):
    done = call("score", model, "shop")
    assert "leave text and labels out" not in done.err


def test_one_text_is_one_text(call, model, tmp_path):
    (tmp_path / "one.csv").write_text("text,labels\nparis apple,city;fruit\n")
    assert "all, 1 text, convention" in call("score", model, tmp_path / "one.csv").out


def test_labels_the_model_does_not_know_are_said(call, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("text,labels\nparis rome,city;planet\napple pear,fruit\nsaw drill,tool;star\n")
    done = call("score", model, path)
    assert done.code == 0, done.err
    assert "planet" in done.err
    assert call("score", model, path, "--json").json["unseen"] == {"planet": 1, "star": 1}


def test_what_is_left_out_is_said_with_counts(call, model, tmp_path):
    path = tmp_path / "new.jsonl"
    rows = [{"text": "paris rome", "labels": ["city", f"planet{n:02d}"]} for n in range(12)]
    rows += [{"text": "oslo", "labels": ["planet07"]}, {"text": "pear", "labels": None}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = " ".join(call("score", model, path).err.split())
    assert "left out: planet07 (2), planet00 (1)" in said
    assert "and 2 more" in said
    assert "left out: 1 text without labels" in said
