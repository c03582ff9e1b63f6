"""`torchrun … tagwright fit` on two processes: the model of one, one writer, and no one waits for
one that is gone.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tagwright.errors import SettingsError
from tagwright.models.distributed import Ranks
from tagwright.pipelines.fit import fit_folder, run_folder
from tagwright.settings.schema import resolve
from tagwright.storage.lock import locked
from tagwright.training.distributed_limits import check_ranks

TWO = Ranks(rank=1, world=2, local=1)
KEPT = ("model.safetensors", "heads/main/decision.json", "heads/main/metrics.json")
SETTINGS = {
    "encoder": {"name": "cnn", "width": 8, "filters": 4, "dropout": 0.0},
    "fit": {"batch": 4, "epochs": 2.0, "evaluations": 2.0, "device": "cpu", "learning_rate": 0.02},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory, rows_of, write_csv):
    """93 texts in train, so that the last batch has one text and one process none; 263 in dev, so
    two odd batches.
    """
    folder = tmp_path_factory.mktemp("data") / "splits"
    for seed, (name, count) in enumerate([("train", 93), ("dev", 263)]):
        write_csv(folder / f"{name}.csv", rows_of(count, seed=seed))
    return folder


def launched(data, out, *more):
    """Two processes under torchrun."""
    given = {
        f"{section}.{key}": value
        for section, keys in SETTINGS.items()
        for key, value in keys.items()
    }
    options = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
    start = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc_per_node",
        "2",
        "-m",
        "tagwright",
    ]
    return subprocess.Popen(
        [*start, "fit", str(data), "--out", str(out), *options, *more],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process):
    shown, said = process.communicate(timeout=180)
    assert process.returncode == 0, said
    return shown, said


def process_of(launcher, rank):
    """The process id of a rank."""
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    found = [
        pid for pid in children if f"\0RANK={rank}\0" in Path(f"/proc/{pid}/environ").read_text()
    ]
    return int(found[0])


def reached(out, step, process):
    """Wait until a checkpoint of this step or a later one stands."""
    while process.poll() is None:
        if any(
            int(p.name.removeprefix("step-")) >= step
            for p in (run_folder(out) / "fit").glob("step-*")
        ):
            return
        time.sleep(0.002)
    raise AssertionError(f"the run ended by itself: {process.stderr.read()}")


def bytes_of(folder):
    return {name: (folder / name).read_bytes() for name in KEPT}


@pytest.fixture(scope="module")
def alone(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "model"
    fit_folder(str(data), SETTINGS, out=out)
    return out


@pytest.fixture(scope="module")
def pair(data, tmp_path_factory):
    """A model made by two processes, and what they said."""
    out = tmp_path_factory.mktemp("pair") / "model"
    return out, *finished(launched(data, out, "--json"))


def test_two_processes_make_the_model_of_one(alone, pair):
    weights, found = (load_file(out / "model.safetensors") for out in (alone, pair[0]))
    assert weights.keys() == found.keys()
    for name, weight in weights.items():
        np.testing.assert_allclose(found[name], weight, atol=1e-5, err_msg=name)


def test_metrics_are_those_of_one_process(alone, pair):
    ours = json.loads((pair[0] / "heads/main/metrics.json").read_text())["metrics"]
    theirs = json.loads((alone / "heads/main/metrics.json").read_text())["metrics"]
    assert ours == pytest.approx(theirs, abs=1e-5)


def test_one_process_speaks_and_writes(pair):
    out, shown, said = pair
    assert json.loads(shown)["rows"] == 263
    assert said.count("score: lrap on dev") == 1
    assert {path.name for path in run_folder(out).iterdir()} == {"report.html", "outcome.json"}
    assert {path.name for path in out.parent.iterdir()} == {"model", "model.run"}


def test_two_processes_have_one_teacher(data, tmp_path):
    """They learn beside its scores, without the labels that words of its own excuse."""
    # one draw a step for both
    mask = {
        "name": "elements",
        "threshold": 0.1,
        "select": "all",
        "plain_share": 0.5,
    }
    taught = {"targets": {"name": "distil"}, "soft": {"role": "auxiliary"}, "mask": mask}
    fit_folder(str(data), {**SETTINGS, **taught}, out=tmp_path / "alone")
    given = {
        f"{section}.{key}": value for section, keys in taught.items() for key, value in keys.items()
    }
    options = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
    _, said = finished(launched(data, tmp_path / "pair", *options))
    assert said.count("a teacher is trained first") == said.count("mask by words") == 1
    words = [
        (run_folder(tmp_path / name) / "elements.csv").read_text() for name in ("alone", "pair")
    ]
    assert [line.split(",")[:2] for line in words[0].split()] == [
        line.split(",")[:2] for line in words[1].split()
    ]
    weights, found = (
        load_file(tmp_path / name / "model.safetensors") for name in ("alone", "pair")
    )
    for name, weight in weights.items():
        np.testing.assert_allclose(found[name], weight, atol=1e-5, err_msg=name)
    left = {"report.html", "outcome.json", "elements.csv"}
    assert {path.name for path in run_folder(tmp_path / "pair").iterdir()} == left


def test_a_model_that_stands_is_refused_by_all_and_nobody_waits(data, pair):
    before = bytes_of(pair[0])
    process = launched(data, pair[0])
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    assert said.count("exists; choose another --out") == 1
    assert bytes_of(pair[0]) == before


@pytest.mark.slow
def test_a_folder_in_use_is_refused_by_all_and_nobody_waits(data, tmp_path):
    with locked(run_folder(tmp_path / "model")):
        process = launched(data, tmp_path / "model")
        _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    assert said.count(f"is in use by process {os.getpid()}") == 1
    assert list(tmp_path.iterdir()) == []


LONGER = ("--set", "encoder.dropout=0.3", "--epochs", "4")


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A longer model of two processes, made without a pause."""
    out = tmp_path_factory.mktemp("whole") / "model"
    finished(launched(data, out, *LONGER))
    return out


@pytest.mark.slow
def test_a_run_with_a_killed_process_goes_on_to_the_same_bits(data, whole, tmp_path):
    more, out = (*LONGER, "--set", "fit.save_seconds=0"), tmp_path / "model"
    for rank, step, again in ((1, 10, ()), (0, 40, ("--resume",))):
        process = launched(data, out, *more, *again)
        reached(out, step, process)
        os.kill(process_of(process, rank), signal.SIGKILL)
        process.communicate(timeout=120)
        assert process.returncode != 0
        assert not out.exists()
    finished(launched(data, out, *more, "--resume"))
    assert bytes_of(out) == bytes_of(whole)


@pytest.mark.slow
def test_a_signal_to_one_process_stops_all_at_one_step_with_the_state_saved(data, whole, tmp_path):
    out = tmp_path / "model"
    process = launched(data, out, *LONGER)
    for line in process.stderr:
        if line.startswith("fit: step"):
            break
    os.kill(process_of(process, 1), signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    assert said.count("the state is saved") == 1
    assert len(list((run_folder(out) / "fit").glob("step-*"))) == 1
    finished(launched(data, out, *LONGER, "--resume"))
    assert bytes_of(out) == bytes_of(whole)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"objective": "batch_dice"}, "batch_dice looks at a whole batch.*bce"),
        ({"encoder": {"name": "bow"}}, "bow's gradients are sparse rows.*cnn"),
        ({"encoder": {"name": "cnn"}, "fit": {"device": "meta"}}, "cpu or cuda, not on meta"),
    ],
)
def test_what_only_one_process_can_train_is_refused_and_says_what_works(given, match):
    settings = resolve({"encoder": {"name": "cnn"}, **given}, "many")
    with pytest.raises(SettingsError, match=match):
        check_ranks(settings, TWO)


def test_a_process_without_a_gpu_of_its_own_is_refused(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    settings = resolve({"encoder": {"name": "cnn"}}, "many")
    with pytest.raises(SettingsError, match=r"finds no GPU of its own: there are 1.*--device cpu"):
        check_ranks(settings, TWO)
    check_ranks(settings, Ranks(rank=2, world=4, local=0))
