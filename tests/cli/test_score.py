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
    assert (
        call("score", model, texts, "--convention", "paper", "--json").json["convention"] == "paper"
    )


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


def test_tokens_are_scored_as_tokens_whole_spans_first_and_fit_80_columns(
    call, token_model, tokens
):
    done = call("score", token_model, tokens)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].strip() == "all, 180 tokens of 60 texts, convention sklearn"
    assert max(map(len, lines)) <= 80
    assert "whole spans, all together" in lines[4]
    metrics = call("score", token_model, tokens, "--json").json["metrics"]
    values = [f"{metrics[f'entity_{name}']:.4f}" for name in ("f1", "f2", "precision", "recall")]
    assert lines[4].replace("│", " ").split()[-4:] == values
    assert "by frequency in train" not in done.out


def test_every_type_has_its_spans_counted(call, token_model, tokens):
    rows = [
        line.replace("│", " ").split()
        for line in call("score", token_model, tokens).out.splitlines()
    ]
    true = {row[0]: row[5] for row in rows if row[:1] in (["CITY"], ["FRUIT"])}
    assert true == {"CITY": "60", "FRUIT": "60"}


def test_json_of_tokens_has_texts_and_tokens(call, token_model, tokens):
    found = call("score", token_model, tokens, "--json").json
    assert (found["rows"], found["tokens"]) == (60, 180)


def test_tags_the_model_does_not_know_are_said_with_what_becomes_of_them(
    call, token_model, tmp_path
):
    (tmp_path / "new.conll").write_text("paris B-CITY\nmars B-PLANET\n")
    assert "tags the model does not know, counted as O: B-PLANET (1)" in call(
        "score", token_model, tmp_path / "new.conll"
    ).err.replace("\n", " ")
