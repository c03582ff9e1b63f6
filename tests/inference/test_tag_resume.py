"""Tagging that was stopped or killed goes on to the same bytes, and only with the same input and
model.
"""

import copy
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import pytest
import torch

from tagwright.errors import DataError, InUseError, SettingsError, WriteError
from tagwright.inference import _shards
from tagwright.inference.tag import tag
from tagwright.pipelines.tag import tag_file
from tagwright.storage import lock
from tagwright.storage.files import write_json

from ..full_disk import room


def stopping_after(calls):
    left = iter(range(calls))

    def progress(rows):
        if rows and next(left, None) is None:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("batches", [0, 1, 2, 3, 6])
def test_stopped_anywhere_it_goes_on_to_the_same_bytes(
    model, pages, tmp_path, small_shards, batches
):
    tag(model, pages, tmp_path / "whole.csv")
    out = tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, out, progress=stopping_after(batches))
    assert not out.exists()
    done = tag(model, pages, out, resume=True)
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert done.rows == 103


def test_finished_shards_are_not_tagged_again(model, pages, tmp_path, small_shards):
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(5))
    counted = []
    tag(model, pages, tmp_path / "out.csv", resume=True, progress=counted.append)
    assert counted[0] == 64
    assert sum(counted) == 103


def test_a_process_killed_goes_on_to_the_same_bytes(trained, model, pages, tmp_path, small_shards):
    tag(model, pages, tmp_path / "whole.csv")
    out = tmp_path / "out.csv"
    code = f"""
        import time
        from pathlib import Path
        from tagwright.inference import tag as module
        from tagwright.pipelines.tag import tag_file
        module.BATCH, module.SHARD = 16, 2
        slowly = lambda rows: time.sleep(0.05)
        model, pages, out = map(Path, {[str(trained), str(pages), str(out)]})
        tag_file(model, pages, out, progress=slowly)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    while process.poll() is None and not list(tmp_path.glob(".out.csv.shards/shard-*.json")):
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    tag_file(trained, pages, out, resume=True)
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_count_cut_short_by_a_kill_is_written_again(model, pages, tmp_path, small_shards):
    tag(model, pages, tmp_path / "whole.csv")
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(5))
    last = sorted(tmp_path.glob(".out.csv.shards/shard-*.json"))[-1]
    last.write_text("")
    tag(model, pages, tmp_path / "out.csv", resume=True)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_an_unfinished_run_is_not_started_over_by_accident(model, pages, tmp_path, small_shards):
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    with pytest.raises(SettingsError, match=r"--resume.*--overwrite"):
        tag(model, pages, tmp_path / "out.csv")


def test_going_on_with_another_input_is_refused(model, pages, tmp_path, small_shards):
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    pages.write_text(pages.read_text() + "1,new,row\n")
    with pytest.raises(DataError, match="another input or model"):
        tag(model, pages, tmp_path / "out.csv", resume=True)


def test_going_on_with_another_input_of_the_same_size_is_refused(
    model, pages, tmp_path, small_shards
):
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    pages.write_bytes(pages.read_bytes().replace(b"paris", b"PARIS"))
    with pytest.raises(DataError, match="another input or model"):
        tag(model, pages, tmp_path / "out.csv", resume=True)


def test_going_on_with_other_weights_or_thresholds_is_refused(model, pages, tmp_path, small_shards):
    network = copy.deepcopy(model.network)
    with torch.no_grad():
        next(network.parameters()).add_(1)
    head = model.heads["main"]
    decision = copy.copy(head.decision)
    decision.thresholds = decision.thresholds + 1
    others = [
        replace(model, network=network),
        replace(model, heads={"main": replace(head, decision=decision)}),
    ]
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    for other in others:
        with pytest.raises(DataError, match="another input or model"):
            tag(other, pages, tmp_path / "out.csv", resume=True)


@pytest.mark.parametrize(
    "options", [{"separator": "|"}, {"inert": True}, {"column": "topics"}, {"text": "note"}]
)
def test_going_on_with_other_options_is_refused(model, pages, tmp_path, small_shards, options):
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    with pytest.raises((DataError, SettingsError), match="another"):
        tag(model, pages, tmp_path / "out.csv", resume=True, **options)


def test_of_two_at_once_the_second_is_told_of_the_first(
    model, pages, tmp_path, small_shards, monkeypatch
):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    out, refused = tmp_path / "out.csv", []

    def second(rows):
        for flags in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(InUseError, match=r"out\.csv\.shards is in use by process"):
                tag(model, pages, out, **flags)
        refused.append(rows)

    tag(model, pages, tmp_path / "whole.csv")
    tag(model, pages, out, progress=second)
    assert (sum(refused), out.read_bytes()) == (103, (tmp_path / "whole.csv").read_bytes())


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
@pytest.mark.parametrize("size", [200, 2_200, 6_500])
def test_a_disk_that_takes_no_more_is_one_message_and_the_run_goes_on(
    model, pages, tmp_path, small_shards, name, size
):
    whole = tmp_path / f"whole{name[3:]}"
    tag(model, pages, whole)
    (tmp_path / "full").mkdir()
    out = tmp_path / "full" / name
    for flags in ({}, {"resume": True}):
        with room(size), pytest.raises(WriteError, match=f"cannot write {tmp_path}/full/.*{name}"):
            tag(model, pages, out, **flags)
    tag(model, pages, out, resume=True)
    assert out.read_bytes() == whole.read_bytes()
    assert [path.name for path in out.parent.iterdir()] == [name]


def killed_after_joining(model, pages, out, monkeypatch):
    """Tags, and is killed when the output has its name and the shards are still there."""
    real = _shards._remove

    def stop(shards):
        if out.exists():
            raise KeyboardInterrupt
        real(shards)

    with monkeypatch.context() as patched:
        patched.setattr(_shards, "_remove", stop)
        with pytest.raises(KeyboardInterrupt):
            tag(model, pages, out)


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_killed_after_the_output_is_whole_it_only_removes_the_shards(
    model, pages, tmp_path, small_shards, monkeypatch, name
):
    out, whole = tmp_path / name, tmp_path / f"whole{name[3:]}"
    expected = tag(model, pages, whole)
    killed_after_joining(model, pages, out, monkeypatch)
    written = out.stat()
    assert tag(model, pages, out, resume=True) == expected
    assert out.read_bytes() == whole.read_bytes()
    assert (out.stat().st_ino, out.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert {path.name for path in tmp_path.iterdir()} == {name, whole.name, "pages.csv"}


def test_killed_after_the_output_is_whole_another_run_does_not_take_it_for_its_own(
    model, pages, tmp_path, small_shards, monkeypatch
):
    out = tmp_path / "out.csv"
    killed_after_joining(model, pages, out, monkeypatch)
    written = out.read_bytes()
    with pytest.raises(DataError, match="another input or model"):
        tag(model, pages, out, resume=True, inert=True)
    with pytest.raises(SettingsError, match=r"out\.csv exists"):
        tag(model, pages, out)
    assert out.read_bytes() == written


def test_a_file_of_a_person_at_the_output_is_not_replaced_by_going_on(
    model, pages, tmp_path, small_shards
):
    out = tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, out, progress=stopping_after(3))
    out.write_text("mine")
    with pytest.raises(SettingsError, match=r"out\.csv exists; .*--overwrite"):
        tag(model, pages, out, resume=True)
    assert out.read_text() == "mine"
    assert tag(model, pages, out, resume=True, overwrite=True).rows == 103


def test_killed_between_the_record_and_the_name_the_output_is_joined_again(
    model, pages, tmp_path, small_shards, monkeypatch
):
    tag(model, pages, tmp_path / "whole.csv")
    out = tmp_path / "out.csv"

    def stop(path, content):
        write_json(path, content)
        if "out" in content:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_shards, "write_json", stop)
        with pytest.raises(KeyboardInterrupt):
            tag(model, pages, out)
    assert not out.exists()
    tag(model, pages, out, resume=True)
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_finished_output_is_said_to_be_complete_if_it_is_this_runs(
    model, pages, tmp_path, small_shards
):
    """Nothing tells what an output was made with, so --resume cannot say more."""
    out = tmp_path / "out.csv"
    tag(model, pages, out)
    written = out.read_bytes()
    with pytest.raises(
        SettingsError, match=r"there is no unfinished run to resume.*it is complete"
    ):
        tag(model, pages, out, resume=True)
    assert out.read_bytes() == written
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "pages.csv"}


@pytest.mark.parametrize("content", ["", "{", None])
def test_shards_of_nobody_knows_what_are_started_over(
    model, pages, tmp_path, small_shards, content
):
    """A full disk left an empty about.json, at which --resume ended with a traceback."""
    tag(model, pages, tmp_path / "whole.csv")
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    about, counted = tmp_path / ".out.csv.shards" / "about.json", []
    about.unlink() if content is None else about.write_text(content)
    tag(model, pages, tmp_path / "out.csv", resume=True, progress=counted.append)
    assert (counted[0], (tmp_path / "out.csv").read_bytes()) == (
        0,
        (tmp_path / "whole.csv").read_bytes(),
    )


def test_shards_that_a_kill_left_after_the_end_are_no_unfinished_run(
    model, pages, tmp_path, small_shards
):
    (tmp_path / ".out.csv.shards").mkdir()
    (tmp_path / ".out.csv.shards" / "shard-000001.data").write_text("half")
    tag(model, pages, tmp_path / "out.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "pages.csv"}


def test_a_file_of_a_person_among_the_shards_stays(model, pages, tmp_path, small_shards):
    with pytest.raises(KeyboardInterrupt):
        tag(model, pages, tmp_path / "out.csv", progress=stopping_after(3))
    (tmp_path / ".out.csv.shards" / "notes.txt").write_text("mine")
    tag(model, pages, tmp_path / "out.csv", overwrite=True)
    assert [path.name for path in (tmp_path / ".out.csv.shards").iterdir()] == ["notes.txt"]
