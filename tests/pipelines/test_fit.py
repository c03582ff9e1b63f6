"""`fit` from a source to a model folder: whole or not there, and the same bits however often it was
killed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tagwright.errors import DataError, ModelError, SettingsError, TagwrightError
from tagwright.pipelines.fit import fit_folder, run_folder
from tagwright.training.step_stream import Interrupted

KEPT = ("model.safetensors", "heads/main/decision.json", "heads/main/metrics.json", "resolved.toml")


def bytes_of(folder, names=KEPT):
    return {name: (folder / name).read_bytes() for name in names}


def tree(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def command(source, out, *more):
    options = [
        "--set",
        "encoder.width=8",
        "--set",
        "encoder.filters=4",
        "--batch",
        "3",
        "--epochs",
        "2",
    ]
    options += ["--set", "fit.evaluations=6", "--set", "fit.patience=0"]
    return [
        sys.executable,
        "-m",
        "tagwright",
        "fit",
        str(source),
        "--out",
        str(out),
        *options,
        *more,
    ]


def start(arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


SAME = {
    "encoder": {"name": "cnn", "width": 8, "filters": 4},
    "fit": {"batch": 3, "epochs": 2.0, "evaluations": 6.0, "patience": 0},
}


@pytest.fixture(scope="module")
def undisturbed(source, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "model"
    fit_folder(str(source), SAME, out=out)
    return out


def reached(folder, step, process):
    """Wait until a checkpoint of this step or a later one stands."""
    while process.poll() is None:
        found = [int(p.name.removeprefix("step-")) for p in (folder / "fit").glob("step-*")]
        if found and max(found) >= step:
            return max(found)
        time.sleep(0.002)
    raise AssertionError(f"the run ended by itself: {process.stderr.read()}")


def test_a_process_killed_twice_in_one_epoch_ends_in_the_same_bits(source, undisturbed, tmp_path):
    out, draw = tmp_path / "model", random.Random(0)
    for step, more in ((4, ()), (14, ("--resume",))):
        process = start(command(source, out, "--set", "fit.save_seconds=0", *more))
        at = reached(run_folder(out), step, process)
        assert at < 36, "the first epoch is over"
        time.sleep(draw.random() * 0.02)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        process.communicate()
        assert not out.exists()
    fit_folder(
        str(source), SAME | {"fit": {**SAME["fit"], "save_seconds": 0.0}}, out=out, resume=True
    )
    assert bytes_of(out, KEPT[:3]) == bytes_of(undisturbed, KEPT[:3])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_step_saves_and_exits_with_130(source, undisturbed, tmp_path, number):
    out = tmp_path / "model"
    process = start(command(source, out))
    for line in process.stderr:
        if line.startswith("fit: step"):
            break
    process.send_signal(number)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert shown == ""
    assert "--resume" in said
    assert not out.exists()
    assert len(list((run_folder(out) / "fit").glob("step-*"))) == 1
    fit_folder(str(source), SAME, out=out, resume=True)
    assert bytes_of(out) == bytes_of(undisturbed)


def test_the_model_folder_and_the_run_folder_hold_what_the_design_says(undisturbed):
    names = {p.relative_to(undisturbed).as_posix() for p in undisturbed.rglob("*") if p.is_file()}
    heads = {f"heads/main/{name}.json" for name in ("labels", "decision", "metrics")}
    assert {
        "manifest.json",
        "settings.toml",
        "resolved.toml",
        "inference.json",
        "model.safetensors",
        "README.md",
        *heads,
    } <= names
    assert any(name.startswith("tokenizer/") for name in names)
    assert {p.name for p in run_folder(undisturbed).iterdir()} == {"report.html", "outcome.json"}


def test_the_model_folder_quotes_no_text_of_the_data(undisturbed, source):
    readme = (undisturbed / "README.md").read_text()
    assert not any(line.split(",")[1] in readme for line in source.read_text().splitlines()[1:])


def test_the_report_is_one_page_without_a_network(undisturbed):
    page = (run_folder(undisturbed) / "report.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html")
    assert 'src="http' not in page
    assert 'href="http' not in page


def test_an_existing_model_is_refused_and_unchanged(undisturbed, source, tiny):
    before = tree(undisturbed)
    with pytest.raises(ModelError, match="--overwrite"):
        fit_folder(str(source), tiny(), out=undisturbed)
    assert tree(undisturbed) == before


def test_a_folder_of_another_kind_is_refused_even_with_resume(source, tiny, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("x")
    for resume in (False, True):
        with pytest.raises(ModelError):
            fit_folder(str(source), tiny(), out=tmp_path / "precious", resume=resume)
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "x"
    assert [p.name for p in tmp_path.iterdir()] == ["precious"]


def test_overwriting_replaces_the_model(source, tiny, tmp_path):
    out = tmp_path / "model"
    fit_folder(str(source), tiny(fit={"epochs": 1}), out=out)
    first = bytes_of(out)
    fit_folder(str(source), tiny(fit={"epochs": 1, "seed": 1}), out=out, overwrite=True)
    assert bytes_of(out)["model.safetensors"] != first["model.safetensors"]
    assert {p.name for p in tmp_path.iterdir()} == {"model", "model.run"}


def interrupted(source, given, out):
    with pytest.raises(Interrupted):
        fit_folder(str(source), given, out=out, asked=lambda: True)


def test_an_unfinished_run_is_not_started_over_by_accident(source, tiny, tmp_path):
    interrupted(source, tiny(), tmp_path / "model")
    with pytest.raises(ModelError, match=r"--resume.*--overwrite"):
        fit_folder(str(source), tiny(), out=tmp_path / "model")


def test_resuming_with_other_settings_or_data_is_refused(source, single_source, tiny, tmp_path):
    interrupted(source, tiny(), tmp_path / "model")
    before = tree(tmp_path)
    with pytest.raises(ModelError, match="other data or settings"):
        fit_folder(str(source), tiny(fit={"seed": 3}), out=tmp_path / "model", resume=True)
    with pytest.raises(ModelError, match="other data or settings"):
        fit_folder(str(single_source), tiny(), out=tmp_path / "model", resume=True)
    assert tree(tmp_path) == before


def test_resuming_a_finished_run_returns_its_outcome(undisturbed, source):
    before = tree(undisturbed)
    outcome = fit_folder(str(source), SAME, out=undisturbed, resume=True)
    assert (
        outcome.metrics
        == json.loads((undisturbed / "heads/main/metrics.json").read_text())["metrics"]
    )
    assert tree(undisturbed) == before


def test_resuming_a_finished_run_with_other_settings_is_refused(undisturbed, source):
    with pytest.raises(ModelError):
        fit_folder(str(source), {**SAME, "objective": "zlpr"}, out=undisturbed, resume=True)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"fit": {"epoch": 1}}, SettingsError),
        ({"fit": {"metric": "nonsense"}}, SettingsError),
        ({"objective": "cross_entropy"}, SettingsError),
        ({"objective": "maskloss-label"}, SettingsError),
        ({"data": {"labels": "nowhere"}}, DataError),
        ({"fit": {"device": "gpu"}}, SettingsError),
        ({"fit": {"vectors": "nowhere.txt"}}, TagwrightError),
        ({"split": {"dev_share": 2.0}}, SettingsError),
    ],
)
def test_a_mistake_writes_nothing(source, tiny, tmp_path, given, error):
    with pytest.raises(error):
        fit_folder(str(source), tiny(**given), out=tmp_path / "deep" / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_overwrite_leaves_model_and_report(source, tiny, tmp_path):
    out = tmp_path / "model"
    fit_folder(str(source), tiny(fit={"epochs": 1}), out=out)
    before = tree(tmp_path)
    with pytest.raises(SettingsError):
        fit_folder(str(source), tiny(fit={"metric": "nonsense"}), out=out, overwrite=True)
    assert tree(tmp_path) == before


def test_a_missing_source_writes_nothing(tiny, tmp_path):
    with pytest.raises(DataError):
        fit_folder("nowhere.csv", tiny(), out=tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_empty_texts_are_dropped_with_a_count(rows_of, write_csv, tiny, tmp_path):
    rows = rows_of(60)
    rows[3:6] = [(i, "  ", labels) for i, _, labels in rows[3:6]]
    said = []
    outcome = fit_folder(
        str(write_csv(tmp_path / "a.csv", rows)),
        tiny(fit={"epochs": 1}),
        out=tmp_path / "m",
        say=said.append,
    )
    assert any("3 rows with empty text" in sentence for sentence in said)
    assert outcome.rows < 60


def test_what_was_found_is_said(source, tiny, tmp_path):
    said = []
    fit_folder(str(source), tiny(fit={"epochs": 1}), out=tmp_path / "m", say=said.append)
    assert any("text" in s for s in said)
    assert any("5 labels" in s for s in said)


def test_the_outcome_is_plain_json_of_dev(source, tiny, tmp_path):
    found = fit_folder(str(source), tiny(fit={"epochs": 1}), out=tmp_path / "m").as_dict()
    assert found["split"] == "dev"
    assert json.loads(json.dumps(found, allow_nan=True)) == found
    assert {"micro_f1", "macro_f1", "lrap", "example_f1", "hamming_loss"} <= set(found["metrics"])


def test_labels_of_test_change_nothing_in_the_model(
    split_source, tiny, tmp_path, rows_of, write_csv
):
    """Thresholds, best step, vocabulary and labels come from train and dev alone."""
    poisoned = tmp_path / "poisoned"
    for name in ("train.csv", "dev.csv"):
        (poisoned / name).parent.mkdir(exist_ok=True)
        (poisoned / name).write_bytes((split_source / name).read_bytes())
    write_csv(poisoned / "test.csv", [(i, "poison", "tool") for i, _, _ in rows_of(40)])
    fit_folder(str(split_source), tiny(), out=tmp_path / "clean-model")
    fit_folder(str(poisoned), tiny(), out=tmp_path / "poisoned-model")
    assert bytes_of(tmp_path / "clean-model") == bytes_of(tmp_path / "poisoned-model")


def test_one_label_a_text_takes_cross_entropy_and_argmax(single_source, tiny, tmp_path):
    outcome = fit_folder(str(single_source), tiny(fit={"epochs": 1}), out=tmp_path / "m")
    assert json.loads((tmp_path / "m/heads/main/decision.json").read_text())["rule"] == "argmax"
    assert 'objective = "cross_entropy"' in (tmp_path / "m/resolved.toml").read_text()
    assert "accuracy" in outcome.metrics


@pytest.mark.parametrize("encoder", ["bow", "lstm"])
def test_the_other_encoders_go_the_same_road(source, encoder, tmp_path):
    given = {"encoder": {"name": encoder}, "fit": {"epochs": 1}}
    assert fit_folder(str(source), given, out=tmp_path / "m").metrics["lrap"] > 0


def test_the_report_marks_the_best_step_where_lower_is_better(source, tiny, tmp_path, monkeypatch):
    from tagwright.analysis import run_facts as module

    seen = []
    real = module.fit_facts
    monkeypatch.setattr(module, "fit_facts", lambda *a: seen.append(real(*a)) or seen[-1])
    given = tiny(fit={"metric": "ranking_loss", "epochs": 4, "patience": 0, "learning_rate": 0.05})
    fit_folder(str(source), given, out=tmp_path / "m")
    assert seen[0].best_step == min(seen[0].history, key=lambda row: row["score"])["step"]
