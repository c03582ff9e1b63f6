"""Folders that are whole or not there."""

import hashlib
import json
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tagwright.errors import InUseError, ModelError
from tagwright.storage import folder as folder_module
from tagwright.storage.checked import opened
from tagwright.storage.folder import MANIFEST, require_model, sha256, verified, written


def names_in(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


def fill(folder, text="one", *, overwrite=False, error=None):
    with written(folder, about={"format": 1}, overwrite=overwrite) as aside:
        (aside / "a.txt").write_text(text)
        (aside / "deep" / "er").mkdir(parents=True)
        (aside / "deep" / "er" / "b.bin").write_bytes(b"\0\1")
        if error is not None:
            raise error


def test_a_written_folder_holds_the_files_and_their_digests(tmp_path):
    fill(tmp_path / "m")
    assert names_in(tmp_path) == [
        "m",
        "m/a.txt",
        "m/deep",
        "m/deep/er",
        "m/deep/er/b.bin",
        f"m/{MANIFEST}",
    ]
    manifest = json.loads((tmp_path / "m" / MANIFEST).read_text())
    assert manifest["format"] == 1
    assert manifest["sha256"] == {
        "a.txt": hashlib.sha256(b"one").hexdigest(),
        "deep/er/b.bin": hashlib.sha256(b"\0\1").hexdigest(),
    }


def test_parents_are_made(tmp_path):
    fill(tmp_path / "x" / "y" / "m")
    assert verified(tmp_path / "x" / "y" / "m")["format"] == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_inside_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        fill(tmp_path / "m", "half", error=error)
    assert names_in(tmp_path) == []


def test_an_existing_folder_is_refused_and_unchanged(tmp_path):
    fill(tmp_path / "m")
    with pytest.raises(ModelError, match="exists"):
        fill(tmp_path / "m", "two")
    assert (tmp_path / "m" / "a.txt").read_text() == "one"
    assert verified(tmp_path / "m")


def test_a_failed_overwrite_leaves_the_old_one(tmp_path):
    fill(tmp_path / "m")
    with pytest.raises(RuntimeError):
        fill(tmp_path / "m", "two", overwrite=True, error=RuntimeError)
    assert verified(tmp_path / "m")
    assert (tmp_path / "m" / "a.txt").read_text() == "one"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_overwriting_replaces_all_and_leaves_nothing_beside(tmp_path):
    fill(tmp_path / "m")
    (tmp_path / "m" / "stray").write_text("x")
    fill(tmp_path / "m", "two", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m" / "a.txt").read_text() == "two"
    assert not (tmp_path / "m" / "stray").exists()


def test_the_rest_of_a_killed_write_is_no_obstacle(tmp_path):
    (tmp_path / ".m.part").mkdir()
    (tmp_path / ".m.part" / "half").write_text("x")
    (tmp_path / ".m.old").mkdir()
    fill(tmp_path / "m")
    assert "half" not in " ".join(names_in(tmp_path))
    assert verified(tmp_path / "m")


def test_killed_while_filling_there_is_no_folder(tmp_path):
    code = f"""
        import os, signal
        from pathlib import Path
        from tagwright.storage.folder import written
        with written(Path({str(tmp_path / "m")!r}), about={{}}) as aside:
            (aside / "a.txt").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert done.returncode == -9
    assert not (tmp_path / "m").exists()


def killed_while_overwriting(folder, moment):
    """Overwrite it in a process that kills itself at a moment: a line that stands before or after a
    step.
    """
    code = f"""
        import os, signal
        from pathlib import Path
        from tagwright.storage import folder as written_by
        def killed(*arguments):
            os.kill(os.getpid(), signal.SIGKILL)
        swap, rename, renames = written_by.exchanged, Path.rename, []
        def renamed(path, target):
            renames.append(path)
            if len(renames) == 2:
                killed()
            return rename(path, target)
        {moment}
        with written_by.written(Path({str(folder)!r}), about={{}}, overwrite=True) as aside:
            (aside / "a.txt").write_text("two")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert done.returncode == -9


KILLS = {
    "before the swap": "written_by.exchanged = killed",
    "after the swap": "written_by.exchanged = lambda one, other: killed(swap(one, other))",
    "before the first rename": (
        "written_by.exchanged, Path.rename = (lambda one, other: False), killed"
    ),
    "between the renames": (
        "written_by.exchanged, Path.rename = (lambda one, other: False), renamed"
    ),
}


@pytest.mark.parametrize("moment", KILLS)
def test_killed_while_overwriting_the_old_or_the_new_folder_can_be_read(tmp_path, moment):
    fill(tmp_path / "m")
    killed_while_overwriting(tmp_path / "m", KILLS[moment])
    before = names_in(tmp_path)
    with opened(tmp_path / "m") as files:
        assert files.text("a.txt") in ("one", "two")
    assert names_in(tmp_path) == before, "a reader moves nothing"


@pytest.mark.parametrize("moment", KILLS)
def test_after_a_kill_the_next_writer_finds_the_folder_and_leaves_nothing_beside(tmp_path, moment):
    fill(tmp_path / "m")
    killed_while_overwriting(tmp_path / "m", KILLS[moment])
    with pytest.raises(ModelError, match="exists"):
        fill(tmp_path / "m", "three")
    fill(tmp_path / "m", "three", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m" / "a.txt").read_text() == "three"


def test_what_a_kill_has_moved_away_counts_as_soon_as_somebody_wants_to_write_there(tmp_path):
    """A training must not find out at its end that its model cannot be saved."""
    fill(tmp_path / "m")
    (tmp_path / "m").rename(tmp_path / ".m.old")
    require_model(tmp_path / "m")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert verified(tmp_path / "m")


def test_where_folders_cannot_be_swapped_the_old_one_is_moved_away(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_module, "exchanged", lambda one, other: False)
    fill(tmp_path / "m")
    fill(tmp_path / "m", "two", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m" / "a.txt").read_text() == "two"


def test_where_the_new_folder_cannot_be_put_in_place_the_old_one_stands(tmp_path, monkeypatch):
    fill(tmp_path / "m")
    rename = Path.rename

    def failing(path, target):
        if path.name == ".m.part":
            raise OSError("no")
        return rename(path, target)

    monkeypatch.setattr(folder_module, "exchanged", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no"):
        fill(tmp_path / "m", "two", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m" / "a.txt").read_text() == "one"


def test_a_link_stays_and_the_folder_that_it_leads_to_is_replaced(tmp_path):
    fill(tmp_path / "real")
    (tmp_path / "m").symlink_to("real")
    fill(tmp_path / "m", "two", overwrite=True)
    assert (tmp_path / "m").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "two"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m", "real"]


def test_all_new_files_have_the_rights_of_the_manifest(tmp_path):
    with written(tmp_path / "m", about={}) as aside:
        (aside / "a.txt").touch(mode=0o600)
    rights = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()}
    assert rights["a.txt"] == rights[MANIFEST]


def test_two_processes_do_not_write_one_folder_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_module, "PATIENCE", 0.0)
    fill(tmp_path / "m")
    with written(tmp_path / "m", about={}, overwrite=True) as aside:
        (aside / "a.txt").write_text("two")
        with pytest.raises(InUseError, match=rf"{tmp_path / 'm'} is in use"):
            fill(tmp_path / "m", "three", overwrite=True)
    assert (tmp_path / "m" / "a.txt").read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_writer_waits_for_another(tmp_path):
    started, done = Event(), Event()

    def first():
        with written(tmp_path / "m", about={}) as aside:
            started.set()
            done.wait(30)
            (aside / "a.txt").write_text("one")

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first)
        started.wait(30)
        other = pool.submit(fill, tmp_path / "m", "two", overwrite=True)
        done.set()
        one.result(), other.result()
    assert (tmp_path / "m" / "a.txt").read_text() == "two"


def test_a_folder_that_somebody_else_has_replaced_is_not_written_over(tmp_path):
    digests = []
    for text in ("one", "two"):
        with written(tmp_path / "m", about={}, overwrite=True, sealed=digests.append) as aside:
            (aside / "a.txt").write_text(text)
    assert digests[1] == sha256(tmp_path / "m" / MANIFEST)
    with (
        pytest.raises(ModelError, match="replaced or removed"),
        written(tmp_path / "m", about={}, overwrite=True, since=digests[0]) as aside,
    ):
        pass
    assert (tmp_path / "m" / "a.txt").read_text() == "two"


def test_one_that_is_gone_is_not_written_anew(tmp_path):
    with (
        pytest.raises(ModelError, match="replaced or removed"),
        written(tmp_path / "m", about={}, overwrite=True, since="0" * 64),
    ):
        pass
    assert names_in(tmp_path) == []


def test_the_digest_is_that_of_the_bytes(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(bytes(range(256)) * 1000)
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def foreign(path, kind):
    if kind == "file":
        path.write_text("text,labels")
        return path
    path.mkdir()
    (path / "thesis.txt").write_text("x")
    if kind == "manifest":
        (path / MANIFEST).write_text('{"name": "a web page", "icons": []}')
    return path


@pytest.mark.parametrize("kind", ["file", "folder", "manifest"])
def test_what_others_made_is_never_overwritten(tmp_path, kind):
    path = foreign(tmp_path / "m", kind)
    before = names_in(tmp_path)
    with pytest.raises(ModelError, match="exists and is no model folder"):
        fill(path, overwrite=True)
    assert names_in(tmp_path) == before


def test_an_empty_folder_is_overwritten(tmp_path):
    (tmp_path / "m").mkdir()
    fill(tmp_path / "m", overwrite=True)
    assert verified(tmp_path / "m")
