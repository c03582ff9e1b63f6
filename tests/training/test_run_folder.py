"""The folder of a run: one run at a time, and no kill or full disk that leaves it stuck."""

import json
import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from tagwright.errors import InUseError, ModelError, WriteError
from tagwright.inference import model_folder
from tagwright.pipelines import fit as module
from tagwright.pipelines.fit import fit_folder
from tagwright.storage import files, lock
from tagwright.storage.lock import LOCK, locked
from tagwright.training.run_folder import held_by, read_outcome, run_folder

from ..full_disk import room

MADE = ("model.safetensors", "heads/main/decision.json", "heads/main/metrics.json")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)


@pytest.fixture(scope="module")
def given(tiny):
    return tiny(fit={"epochs": 1})


@pytest.fixture(scope="module")
def whole(source, given, tmp_path_factory):
    """What a run that nothing disturbed leaves."""
    out = tmp_path_factory.mktemp("whole") / "m"
    fit_folder(str(source), given, out=out)
    return made(out)


def made(out):
    return [(out / name).read_bytes() for name in MADE]


def stop(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "flags", [{}, {"resume": True}, {"overwrite": True}], ids=["plain", "resume", "overwrite"]
)
def test_two_runs_of_one_name_lose_neither(source, given, whole, tmp_path, flags):
    """Each wrote into the checkpoints of the other, and both ended without a model."""
    out, refused = tmp_path / "m", []

    def second(stream, title, start, total):
        with pytest.raises(
            InUseError, match=rf"m\.run is in use by process {os.getpid()} on .*another --out"
        ):
            fit_folder(str(source), given, out=out, **flags)
        refused.append(title)
        return stream

    fit_folder(str(source), given, out=out, progress=second)
    assert (refused, made(out)) == (["fit"], whole)


def test_a_run_that_began_while_the_data_were_read_is_seen(source, given, tmp_path, monkeypatch):
    real = module._prepared

    def slow(*arguments):
        monkeypatch.setattr(module, "_prepared", real)
        fit_folder(str(source), given, out=tmp_path / "m")
        return real(*arguments)

    monkeypatch.setattr(module, "_prepared", slow)
    with pytest.raises(ModelError, match="exists; choose another --out"):
        fit_folder(str(source), given, out=tmp_path / "m", progress=pytest.fail)


def test_a_run_that_ended_just_before_the_folder_was_taken_is_not_made_again(
    source, given, whole, tmp_path, monkeypatch
):
    real, out = module.held_by, tmp_path / "m"

    def late(ranks, folder):
        monkeypatch.setattr(module, "held_by", real)
        fit_folder(str(source), given, out=out)
        return real(ranks, folder)

    monkeypatch.setattr(module, "held_by", late)
    with pytest.raises(ModelError, match="m exists; choose another --out"):
        fit_folder(str(source), given, out=out)
    assert made(out) == whole
    assert fit_folder(str(source), given, out=out, resume=True, progress=pytest.fail).model == out


@pytest.mark.parametrize(
    "flags", [{"resume": True}, {"overwrite": True}], ids=["resume", "overwrite"]
)
def test_a_kill_after_an_old_run_was_cleared_leaves_a_folder_that_goes_on(
    source, given, whole, tmp_path, flags, monkeypatch
):
    """All that told the folder for ours was gone, a person's notes were left, and every command
    refused them.
    """
    out = tmp_path / "m"
    fit_folder(str(source), given, out=out)
    (run_folder(out) / "notes.txt").write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(module, "train", stop)
        with pytest.raises(KeyboardInterrupt):
            fit_folder(str(source), given, out=out, overwrite=True)
    assert {path.name for path in run_folder(out).iterdir()} == {"notes.txt", LOCK}
    fit_folder(str(source), given, out=out, **flags)
    assert made(out) == whole
    assert {path.name for path in run_folder(out).iterdir()} == {
        "notes.txt",
        "outcome.json",
        "report.html",
    }


def test_a_run_killed_before_it_wrote_anything_is_no_unfinished_run(source, given, whole, tmp_path):
    run_folder(tmp_path / "m").mkdir()
    (run_folder(tmp_path / "m") / LOCK).touch()
    fit_folder(str(source), given, out=tmp_path / "m")
    assert made(tmp_path / "m") == whole


@pytest.mark.parametrize("content", ["", "{"])
def test_an_outcome_that_was_cut_short_is_made_again(source, given, whole, tmp_path, content):
    """A full disk left an empty file, at which --resume ended with a traceback for good."""
    out = tmp_path / "m"
    fit_folder(str(source), given, out=out)
    (run_folder(out) / "outcome.json").write_text(content)
    assert read_outcome(run_folder(out)) is None
    assert fit_folder(str(source), given, out=out, resume=True).metrics["lrap"] > 0
    assert (made(out), read_outcome(run_folder(out))["rows"]) == (whole, 12)


@pytest.mark.parametrize("size", [20, 500, 2_500, 10_000])
def test_a_disk_that_takes_no_more_is_one_message_and_the_run_goes_on(
    source, given, whole, tmp_path, size
):
    out = tmp_path / "m"
    for flags in ({}, {"resume": True}):
        with room(size), pytest.raises(WriteError, match=f"cannot write {tmp_path}/m"):
            fit_folder(str(source), given, out=out, **flags)
    fit_folder(str(source), given, out=out, resume=True)
    assert made(out) == whole
    assert {path.name for path in tmp_path.iterdir()} == {"m", "m.run"}
    assert {path.name for path in run_folder(out).iterdir()} == {"outcome.json", "report.html"}


@pytest.mark.parametrize("name", ["report.html", "outcome.json"])
def test_a_disk_that_is_full_after_training_keeps_the_model_and_the_run_goes_on(
    source, given, whole, tmp_path, monkeypatch, name
):
    out, real = tmp_path / "m", files._synced

    def full(path):
        if name in path.name:
            raise OSError(28, "No space left on device")
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "_synced", full)
        with pytest.raises(WriteError, match=rf"cannot write .*m\.run/{name}: no space"):
            fit_folder(str(source), given, out=out)
    assert model_folder.load(out).primary.rule == "threshold"
    assert not (run_folder(out) / name).exists()
    done = fit_folder(
        str(source), given, out=out, resume=True, progress=lambda stream, *about: stream
    )
    assert (made(out), done.report) == (whole, run_folder(out) / "report.html")
    assert json.loads((run_folder(out) / "outcome.json").read_text())["report"] == str(done.report)


def test_of_several_processes_the_first_alone_holds_the_folder(tmp_path):
    """torchrun's processes are one run: they must not shut each other out."""
    several = [SimpleNamespace(first=first, together=nullcontext) for first in (True, False)]
    with held_by(several[0], tmp_path / "run"), held_by(several[1], tmp_path / "run"):
        assert [path.name for path in (tmp_path / "run").iterdir()] == [LOCK]
    with held_by(several[1], tmp_path / "run"):
        assert not (tmp_path / "run").exists()
    with locked(tmp_path / "run"), pytest.raises(InUseError), held_by(several[0], tmp_path / "run"):
        pass


def test_the_folder_of_a_name_is_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_folder(Path("a/m")) == Path("a/m.run")
    assert run_folder(Path(".")) == tmp_path.with_name(f"{tmp_path.name}.run")
