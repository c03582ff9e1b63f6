"""`tagwright score`."""


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


def test_what_is_shown_goes_to_stderr(call, model, texts):
    done = call("score", model, texts)
    assert done.code == 0, done.err
    assert done.out == ""
    assert "micro f1" in done.err


def test_labels_the_model_does_not_know_are_said(call, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("text,labels\nparis rome,city;planet\napple pear,fruit\nsaw drill,tool;star\n")
    done = call("score", model, path)
    assert done.code == 0, done.err
    assert "planet" in done.err
    assert call("score", model, path, "--json").json["unseen"] == {"planet": 1, "star": 1}
