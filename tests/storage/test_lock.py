"""One process in a folder at a time: who is refused, what is taken over, and what is left
behind.
"""

import errno
import fcntl
import json
import os
import platform
import signal
import subprocess
import sys
import time

import pytest

from tagwright.errors import InUseError, WriteError
from tagwright.storage import lock
from tagwright.storage.lock import LOCK, holds_files, locked, require_free

from ..full_disk import room

HOLDS = """
import sys, time
from pathlib import Path
from tagwright.storage.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds `tmp_path / "run"`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path / "run"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def signed(folder, *, silent, **facts):
    """The lock of a process whose last sign of life was `silent` seconds ago."""
    folder.mkdir()
    owner = {"pid": 7, "host": "other", "machine": "elsewhere", "started": "today", **facts}
    (folder / LOCK).write_text(json.dumps(owner))
    os.utime(folder / LOCK, (time.time() - silent,) * 2)
    return folder


def test_a_second_process_is_told_who_is_there(holder, tmp_path):
    for refused in (locked(tmp_path / "run").__enter__, lambda: require_free(tmp_path / "run")):
        with pytest.raises(
            InUseError, match=f"run is in use by process {holder.pid} on {platform.node()}, .*--out"
        ):
            refused()
    assert {path.name for path in (tmp_path / "run").iterdir()} == {LOCK}


def test_the_folder_of_a_killed_process_is_free_at_once(holder, tmp_path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "run" / LOCK).read_text()
    require_free(tmp_path / "run")
    with locked(tmp_path / "run"):
        assert json.loads((tmp_path / "run" / LOCK).read_text())["pid"] == os.getpid()


def test_within_a_process_a_folder_is_held_once(tmp_path):
    with locked(tmp_path / "run"), pytest.raises(InUseError), locked(tmp_path / "run"):
        pass
    with locked(tmp_path / "run"):
        pass


def test_a_process_of_another_machine_counts_while_it_gives_signs_of_life(tmp_path):
    folder = signed(tmp_path / "run", silent=lock.SILENT / 2)
    with pytest.raises(
        InUseError, match=r"process 7 on other, .* sign of life 30 seconds ago; after 60 seconds"
    ):
        require_free(folder)
    os.utime(folder / LOCK, (time.time() - lock.SILENT - 1,) * 2)
    with locked(folder):
        assert json.loads((folder / LOCK).read_text())["pid"] == os.getpid()


def test_a_holder_gives_signs_of_life(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "BEAT", 0.005)
    with locked(tmp_path):
        os.utime(tmp_path / LOCK, (0, 0))
        while not (tmp_path / LOCK).stat().st_mtime:
            time.sleep(0.001)


def test_a_container_that_ended_frees_the_folder_for_another_of_its_machine(tmp_path):
    require_free(signed(tmp_path / "run", silent=0, machine=lock._machine()))


def test_where_the_system_has_no_locks_signs_of_life_tell(tmp_path, monkeypatch):
    def none(handle, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    folder = signed(tmp_path / "run", silent=1, machine=lock._machine())
    with pytest.raises(InUseError):
        require_free(folder)
    os.utime(folder / LOCK, (time.time() - lock.SILENT - 1,) * 2)
    require_free(folder)


def test_success_leaves_what_was_written_and_no_lock(tmp_path):
    with locked(tmp_path / "deep" / "run"):
        (tmp_path / "deep" / "run" / "a").touch()
    assert [path.name for path in (tmp_path / "deep" / "run").iterdir()] == ["a"]


def test_a_failure_leaves_the_lock_beside_what_was_written_free_to_take(tmp_path):
    def fails():
        (tmp_path / "run" / "a").touch()
        raise KeyError

    with pytest.raises(KeyError), locked(tmp_path / "run"):
        fails()
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"a", LOCK}
    with locked(tmp_path / "run"):
        pass
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["a"]


def test_a_folder_without_files_goes_with_the_lock(tmp_path):
    with locked(tmp_path / "run"):
        (tmp_path / "run" / "deep" / "deeper").mkdir(parents=True)
        assert not holds_files(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [0, 20])
def test_a_full_disk_refuses_the_lock_and_leaves_nothing(tmp_path, size):
    with (
        room(size),
        pytest.raises(WriteError, match=f"cannot write .*{LOCK}: "),
        locked(tmp_path / "run"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_name_holds_nothing(tmp_path):
    for content in ("", "{", '{"pid": 7}', "[]"):
        (tmp_path / LOCK).write_text(content)
        require_free(tmp_path)
    require_free(tmp_path / "nowhere")
    require_free(tmp_path / LOCK)


def test_a_lock_that_was_removed_while_it_was_opened_is_made_anew(tmp_path, monkeypatch):
    """Who lets go removes the file; one that had opened it before would hold a file that nobody
    else sees.
    """
    real, first = fcntl.flock, iter([True])

    def removed(handle, operation):
        real(handle, operation)
        if next(first, False):
            (tmp_path / LOCK).unlink()

    monkeypatch.setattr(fcntl, "flock", removed)
    with locked(tmp_path):
        assert (tmp_path / LOCK).exists()
        with pytest.raises(InUseError), locked(tmp_path):
            pass


def test_of_many_that_come_at_once_one_is_in(tmp_path):
    code = """
import sys
from pathlib import Path
from tagwright.errors import InUseError
from tagwright.storage.lock import locked
folder, count = Path(sys.argv[1]), 0
for _ in range(40):
    try:
        with locked(folder / "run"):
            (folder / "alone").mkdir()
            (folder / "alone").rmdir()
            count += 1
    except InUseError:
        pass
print(count)
"""
    start = [sys.executable, "-c", code, tmp_path]
    processes = [subprocess.Popen(start, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    counts = [int(process.communicate()[0] or 0) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert min(counts) > 0
