"""`tagwright compare`."""


def test_json_is_one_object_with_verdict_and_differences(call, texts, quick, tmp_path):
    done = call(
        "compare",
        texts,
        "--objectives",
        "bce, zlpr",
        "--seeds",
        2,
        "--out",
        tmp_path / "c",
        *quick,
        "--json",
    )
    assert done.code == 0, done.err
    assert done.json["baseline"] == "bce"
    assert {d["objective"] for d in done.json["differences"]} == {"zlpr"}
    assert done.json["verdict"]


def test_one_seed_is_plain_json_too(call, texts, quick, tmp_path):
    done = call(
        "compare",
        texts,
        "--objectives",
        "bce,zlpr",
        "--seeds",
        1,
        "--out",
        tmp_path / "c",
        *quick,
        "--json",
    )
    assert done.code == 0, done.err
    assert "seed" in done.json["verdict"]
    shown = call(
        "compare",
        texts,
        "--objectives",
        "bce,zlpr",
        "--seeds",
        1,
        "--out",
        tmp_path / "c",
        *quick,
        "--resume",
    )
    assert "one seed: no interval" in shown.out
    assert "inf" not in shown.out
    assert "± 0.0000" not in shown.out
    again = call(
        "compare", texts, "--objectives", "bce,zlpr", "--seeds", 1, "--out", tmp_path / "c", *quick
    )
    assert again.code == 2
    assert "--resume" in again.err


def test_names_of_objectives_are_whole_in_a_narrow_terminal(
    call, texts, quick, tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    names = "distribution_balanced,adaptive_threshold"
    done = call(
        "compare", texts, "--objectives", names, "--seeds", 2, "--out", tmp_path / "c", *quick
    )
    assert done.code == 0, done.err
    assert all(name in done.out for name in names.split(","))
    assert "…" not in done.out


def test_ctrl_c_says_how_to_go_on(call, texts, quick, tmp_path, monkeypatch):
    from tagwright.experiments import runs as module

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "fit", stop)
    done = call("compare", texts, "--objectives", "bce,zlpr", "--out", tmp_path / "c", *quick)
    assert done.code == 130
    assert "go on with the same command and --resume" in done.err


def test_settings_that_depend_on_the_objective_are_said(call, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text(
        "text,label\n"
        + "".join(f"{'paris' if n % 2 else 'apple'} x{n},{n % 2}a\n" for n in range(60))
    )
    options = ["--encoder", "bow", "--epochs", 1, "--seeds", 1, "--out", tmp_path / "c"]
    done = call("compare", path, "--objectives", "cross_entropy,squared_hinge", *options)
    assert done.code == 0, done.err
    assert "fit.batch: 256 (cross_entropy), 32 (squared_hinge)" in done.out + done.err


def test_a_failed_run_is_told_and_the_exit_code_is_one(call, texts, quick, tmp_path, monkeypatch):
    from tagwright.experiments import runs as module

    def failing(prepared, settings, run):
        raise RuntimeError("no room left")

    monkeypatch.setattr(module, "fit", failing)
    done = call(
        "compare", texts, "--objectives", "bce,zlpr", "--seeds", 1, "--out", tmp_path / "c", *quick
    )
    assert done.code == 1
    assert "no room left" in done.err
    assert "2 runs failed; the same command with --resume makes them again" in done.err


def test_one_encoder_or_several_but_not_both(call, texts, tmp_path):
    options = [
        "--objectives",
        "bce,zlpr",
        "--encoder",
        "bow",
        "--encoders",
        "bow,cnn",
        "--out",
        tmp_path / "c",
    ]
    done = call("compare", texts, *options)
    assert done.code == 2
    assert "--encoder or --encoders" in done.err


def test_an_encoder_that_nobody_knows_is_told_once(call, texts, tmp_path):
    done = call(
        "compare",
        texts,
        "--objectives",
        "bce,zlpr",
        "--encoders",
        "bow,cmm",
        "--out",
        tmp_path / "c",
    )
    assert done.code == 2
    assert done.err.count("unknown encoder 'cmm'") == 1
    assert "SettingsError" not in done.err
    assert not (tmp_path / "c").exists()


def test_several_encoders_and_a_sweep_are_shown(call, texts, tmp_path):
    options = [
        "--objectives",
        "bce,focal",
        "--encoders",
        "bow,cnn",
        "--sweep",
        "focal:loss.gamma=1,2",
        "--seeds",
        2,
    ]
    done = call("compare", texts, *options, "--epochs", 1, "--out", tmp_path / "c")
    assert done.code == 0, done.err
    lines = [line for line in done.out.splitlines() if "focal gamma 2" in line and "│" in line]
    assert [line.split("│")[1].strip() for line in lines] == ["bow", "cnn"]


def test_keep_cuts_a_label_for_all_and_says_so(call, texts, quick, tmp_path):
    options = [
        "--objectives",
        "bce,zlpr",
        "--seeds",
        1,
        "--out",
        tmp_path / "c",
        "--keep",
        "city=5",
    ]
    done = call("compare", texts, *options, *quick)
    assert done.code == 0, done.err
    assert done.err.count("keep: 5 of ") == 1


def test_taggers_are_shown_by_spans_and_by_tags(call, tmp_path, monkeypatch):
    from tagwright.cli import _show

    monkeypatch.setattr(_show.results_console, "width", 120)
    rows = [f"new\tB-CITY\nyork\tI-CITY\nn{n}\tO\n\n" for n in range(40)]
    (tmp_path / "places.conll").write_text("".join(rows))
    sizes = {"width": 8, "hidden": 8, "layers": 1, "heads": 2, "feed": 8}
    options = [part for name, size in sizes.items() for part in ("--set", f"encoder.{name}={size}")]
    options += ["--encoder", "bat", "--epochs", 1, "--seeds", 2, "--out", tmp_path / "c"]
    done = call(
        "compare", tmp_path / "places.conll", "--objectives", "cross_entropy,cecl-array", *options
    )
    assert done.code == 0, done.err
    assert "entity_f1" in done.out
    assert "macro_f1" in done.out
    assert "micro_f1" not in done.out


def test_solved_baselines_stand_beside_what_is_trained(call, texts, tmp_path):
    names = ["bce", "binary-relevance", "classifier-chain"]
    options = [
        "--objectives",
        ",".join(names),
        "--encoder",
        "bow",
        "--seeds",
        2,
        "--out",
        tmp_path / "c",
        "--json",
    ]
    done = call("compare", texts, *options)
    assert done.code == 0, done.err
    assert [row["objective"] for row in done.json["summary"]] == names
    assert done.json["differing"] == {
        "fit.optimizer": dict(zip(names, ("auto", "exact", "exact"))),
        "head.name": dict(zip(names, ("document", "document", "chain"))),
    }
