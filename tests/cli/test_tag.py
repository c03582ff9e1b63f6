"""`tagwright tag`."""

import csv


def test_json_is_one_object_with_the_counts(call, model, texts, tmp_path):
    done = call("tag", model, texts, "--out", tmp_path / "o.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["rows"] == 90
    assert done.json["out"] == str(tmp_path / "o.csv")


def test_the_file_has_every_row_and_the_tags(call, model, texts, tmp_path):
    done = call("tag", model, texts, "--out", tmp_path / "o.csv", "--column", "topics")
    assert done.code == 0, done.err
    assert done.out == ""
    with (tmp_path / "o.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(n) for n in range(90)]
    assert any(row["topics"] for row in rows)


def test_a_text_column_that_is_not_there_is_a_mistake(call, model, texts, tmp_path):
    done = call("tag", model, texts, "--out", tmp_path / "o.csv", "--text", "body")
    assert done.code == 2
    assert "body" in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_help_says_what_happens_to_cells_that_a_spreadsheet_would_run(call):
    assert "--inert" in call("tag", "--help").out


def test_an_altered_model_is_refused(call, model, texts, tmp_path):
    import shutil

    copy = shutil.copytree(model, tmp_path / "m")
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x55")
    done = call("tag", copy, texts, "--out", tmp_path / "o.csv")
    assert done.code == 2
    assert "model.safetensors" in done.err.replace("\n", "")


def test_ctrl_c_says_how_to_go_on(call, model, texts, tmp_path, monkeypatch):
    from tagwright.inference import tag as module

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_grouped", stop)
    done = call("tag", model, texts, "--out", tmp_path / "o.csv")
    assert done.code == 130
    assert "go on with the same command and --resume" in done.err
    monkeypatch.undo()


def test_resuming_what_is_finished_says_that_nothing_is_left_to_do(call, model, texts, tmp_path):
    assert call("tag", model, texts, "--out", tmp_path / "o.csv").code == 0
    written = (tmp_path / "o.csv").read_bytes()
    done = call("tag", model, texts, "--out", tmp_path / "o.csv", "--resume")
    assert done.code == 2
    assert "If this command wrote the file, it is complete" in " ".join(done.err.split())
    assert (tmp_path / "o.csv").read_bytes() == written


def test_columns_that_the_model_reads_are_named_where_the_file_lacks_them(call, model, tmp_path):
    (tmp_path / "n3.csv").write_text("id,msg\n1,paris\n")
    done = call("tag", model, tmp_path / "n3.csv", "--out", tmp_path / "o.csv")
    assert done.code == 2
    assert "the model reads columns text; n3.csv has id, msg; name them with --text" in done.err
