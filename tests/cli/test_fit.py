"""`tagwright fit`."""

import tomllib

import pytest

from ..tiny_encoders import write_encoder


def test_json_is_one_object_with_the_metrics_of_dev(call, texts, quick, tmp_path):
    done = call("fit", texts, "--out", tmp_path / "m", *quick, "--json")
    assert done.code == 0
    assert done.json["split"] == "dev"
    assert 0 <= done.json["metrics"]["macro_f1"] <= 1
    assert done.json["model"] == str(tmp_path / "m")


def test_options_file_and_set_come_one_over_the_other(call, texts, tmp_path):
    given = tmp_path / "s.toml"
    sections = "[fit]\nepochs = 9.0\nbatch = 7\nseed = 3\n[encoder]\nwidth = 8\nfilters = 4\n"
    given.write_text(f'objective = "zlpr"\n{sections}')
    done = call(
        "fit",
        texts,
        "--out",
        tmp_path / "m",
        "--settings",
        given,
        "--epochs",
        1,
        "--seed",
        5,
        "--set",
        "fit.seed=6",
    )
    assert done.code == 0, done.err
    made = tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())
    assert made["objective"] == "zlpr"
    assert (made["fit"]["epochs"], made["fit"]["batch"], made["fit"]["seed"]) == (1.0, 7, 6)
    assert made["encoder"]["width"] == 8


def test_written_settings_are_a_settings_file(call, texts, model, tmp_path):
    done = call("fit", texts, "--out", tmp_path / "m", "--settings", model / "settings.toml")
    assert done.code == 0, done.err
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == (
        model / "model.safetensors"
    ).read_bytes()


def test_part_options_reach_the_settings(call, texts, quick, tmp_path):
    more = [
        "--loss",
        "zlpr",
        "--label-weights",
        "inverse",
        "--decide",
        "zero",
        "--metric",
        "macro_f1",
        "--split-seed",
        2,
    ]
    assert call("fit", texts, "--out", tmp_path / "m", *quick, *more).code == 0
    made = tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())
    assert (made["loss"]["name"], made["weights"]["name"], made["decide"]["name"]) == (
        "zlpr",
        "inverse",
        "zero",
    )
    assert (made["fit"]["metric"], made["split"]["seed"]) == ("macro_f1", 2)


def test_when_not_a_terminal_evaluations_are_plain_lines(call, texts, quick, tmp_path):
    done = call("fit", texts, "--out", tmp_path / "m", *quick)
    assert "micro f1" in done.out
    assert "micro f1" not in done.err
    assert done.err.count("fit: step") == 2
    assert "score: lrap on dev" in done.err
    assert "\x1b[" not in done.err


def test_an_existing_model_exits_with_2_and_stays(call, texts, quick, model):
    before = (model / "manifest.json").read_bytes()
    done = call("fit", texts, "--out", model, *quick)
    assert done.code == 2
    assert "--overwrite" in done.err
    assert (model / "manifest.json").read_bytes() == before


def test_a_refit_is_said(call, texts, quick, tmp_path):
    done = call("fit", texts, "--out", tmp_path / "m", *quick, "--refit")
    assert (
        "trained again on train and dev (90 texts); the figures are of the model before"
        in " ".join(done.err.split())
    )
    assert "trained again" not in call("fit", texts, "--out", tmp_path / "n", *quick).err


def test_a_decision_by_threshold_of_single_labels_is_a_mistake(call, tmp_path, quick):
    path = tmp_path / "one.csv"
    path.write_text(
        "text,label\n"
        + "".join(
            f"{'paris' if n % 2 else 'apple'} x{n},{'city' if n % 2 else 'fruit'}\n"
            for n in range(60)
        )
    )
    done = call("fit", path, "--out", tmp_path / "m", *quick, "--decide", "threshold")
    assert done.code == 2
    assert "take argmax" in done.err.replace("\n", " ")


def test_an_interrupted_run_says_so_once(call, texts, quick, tmp_path, monkeypatch):
    import signal

    from tagwright.cli import _show

    def stopping(stream, title, start, total):
        for number, step in enumerate(stream):
            if number == 1:
                signal.raise_signal(signal.SIGINT)
            yield step

    monkeypatch.setattr(_show, "training_bar", stopping)
    done = call("fit", texts, "--out", tmp_path / "m", *quick)
    assert done.code == 130
    assert (
        done.err.splitlines()[-1] == "stopped after step 2; the state is saved, go on with --resume"
    )


def test_the_embedded_set_names_nothing_that_is_not_trained(call, tmp_path):
    done = call("fit", "shop", "--out", tmp_path / "m", "--encoder", "bow", "--epochs", 0.1)
    assert done.code == 0, done.err
    assert "BRAND" not in done.err


def test_labels_in_chunks(call, texts, quick, tmp_path):
    done = call(
        "fit",
        texts,
        "--out",
        tmp_path / "m",
        *quick,
        "--head-chunk",
        2,
        "--set",
        "head.dtype=bfloat16",
    )
    assert done.code == 0, done.err
    made = tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())
    assert (made["head"]["chunk"], made["head"]["dtype"]) == (2, "bfloat16")
    refused = call("fit", texts, "--out", tmp_path / "n", "--encoder", "bow", "--head-chunk", 2)
    assert refused.code == 2
    assert "dense vectors" in refused.err


def test_keep_cuts_a_label_and_says_so(call, texts, quick, tmp_path):
    done = call(
        "fit", texts, "--out", tmp_path / "m", "--keep", "city=5", "--keep", "tool=7", *quick
    )
    assert done.code == 0, done.err
    assert "keep: 7 of " in done.err
    assert "[split.keep]\ncity = 5\ntool = 7\n" in (tmp_path / "m" / "settings.toml").read_text()


@pytest.mark.parametrize("keep", ["citty=5", "city=0", "city=some", "city"])
def test_a_wrong_keep_is_one_line_and_writes_nothing(call, texts, quick, tmp_path, keep):
    done = call("fit", texts, "--out", tmp_path / "m", "--keep", keep, *quick)
    assert done.code == 2
    assert "keep" in done.err
    assert list(tmp_path.iterdir()) == []


def test_tokens_are_named_and_whole_spans_come_first(call, tokens, tmp_path):
    sizes = ["width=8", "hidden=8", "layers=1", "heads=1", "feed=8"]
    options = [
        "--encoder",
        "bat",
        "--epochs",
        1,
        *(word for size in sizes for word in ("--set", f"encoder.{size}")),
    ]
    done = call("fit", tokens, "--out", tmp_path / "m", *options)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    again = call("fit", tokens, "--out", tmp_path / "m", *options, "--resume", "--json").json
    assert again["tokens"] == 3 * again["rows"]
    assert lines[0].strip() == f"dev, {again['tokens']} tokens of {again['rows']} texts"
    assert "whole spans, all together" in lines[4]
    assert f"{again['metrics']['entity_f1']:.4f}" in lines[4]
    assert call("fit", tokens, "--out", tmp_path / "m", *options, "--resume").out == done.out


def test_masked_language_modelling_is_a_word_of_the_command(call, texts, tmp_path):
    encoder = write_encoder(tmp_path / "tiny", "bert", masked=True)
    given = [
        "--encoder",
        "pretrained",
        "--set",
        f"encoder.path={encoder}",
        "--epochs",
        1,
        "--set",
        "fit.limit=24",
    ]
    done = call(
        "fit",
        texts,
        "--out",
        tmp_path / "m",
        *given,
        "--regularize",
        "mlm",
        "--set",
        "mlm.weight=0.2",
        "--json",
    )
    assert done.code == 0, done.err
    made = tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())
    assert made["mlm"] == {"weight": 0.2, "share": 0.15}
    assert call("score", tmp_path / "m", texts, "--json").code == 0
    again = call(
        "fit", texts, "--out", tmp_path / "n", "--settings", tmp_path / "m" / "settings.toml"
    )
    assert again.code == 0, again.err
    assert (tmp_path / "n" / "model.safetensors").read_bytes() == (
        tmp_path / "m" / "model.safetensors"
    ).read_bytes()


def test_masked_language_modelling_wants_a_pretrained_encoder(call, texts, tmp_path):
    done = call("fit", texts, "--out", tmp_path / "m", "--regularize", "mlm")
    assert done.code == 2
    assert "mlm needs a pretrained encoder, got cnn" in done.err


def test_a_chain_is_solved_label_by_label_then_scores_and_tags(call, texts, tmp_path):
    options = [
        "--objective",
        "classifier-chain",
        "--encoder",
        "bow",
        "--set",
        'head.order=["tool","city","fruit"]',
    ]
    done = call("fit", texts, "--out", tmp_path / "m", *options)
    assert done.code == 0, done.err
    assert [line for line in done.err.splitlines() if "label" in line and "fit:" in line] == [
        f"{phase}: {number} of 3 labels" for phase in ("fit", "refit") for number in (1, 2, 3)
    ]
    assert "score:" not in done.err
    made = tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())
    assert (made["fit"]["optimizer"], made["head"]) == (
        "exact",
        {"name": "chain", "order": ["tool", "city", "fruit"]},
    )
    scored = call("score", tmp_path / "m", texts, "--json")
    assert scored.code == 0, scored.err
    assert scored.json["metrics"]["micro_f1"] > 0.9
    tagged = call("tag", tmp_path / "m", texts, "--out", tmp_path / "tagged.csv")
    assert tagged.code == 0, tagged.err
    assert (tmp_path / "m.run" / "report.html").exists()


def test_a_baseline_with_another_encoder_is_one_message(call, texts, tmp_path):
    done = call("fit", texts, "--out", tmp_path / "m", "--objective", "binary-relevance")
    assert done.code == 2
    assert "take --encoder bow" in " ".join(done.err.split())
    assert list(tmp_path.iterdir()) == []
