"""Folders that are whole or not there."""

import hashlib
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tagwright.errors import ModelError
from tagwright.folder import MANIFEST, sha256, verified, written


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
    assert names_in(tmp_path) == ["m", "m/a.txt", "m/deep", "m/deep/er", "m/deep/er/b.bin", f"m/{MANIFEST}"]
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
        from tagwright.folder import written
        with written(Path({str(tmp_path / "m")!r}), about={{}}) as aside:
            (aside / "a.txt").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert done.returncode == -9
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("moment", [1, 2])
def test_killed_while_overwriting_the_old_or_the_new_folder_can_be_read(tmp_path, moment):
    fill(tmp_path / "m")
    code = f"""
        import os, signal
        from pathlib import Path
        from tagwright.folder import written
        real, calls = os.rename, []
        def rename(*arguments, **options):
            calls.append(arguments)
            if len(calls) == {moment}:
                os.kill(os.getpid(), signal.SIGKILL)
            real(*arguments, **options)
        os.rename = rename
        with written(Path({str(tmp_path / "m")!r}), about={{}}, overwrite=True) as aside:
            (aside / "a.txt").write_text("two")
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False).returncode == -9
    assert verified(tmp_path / "m")
    assert (tmp_path / "m" / "a.txt").read_text() in ("one", "two")


@pytest.mark.parametrize("name", ["a.txt", "deep/er/b.bin"])
def test_one_altered_bit_is_an_error_that_names_the_file(tmp_path, name):
    fill(tmp_path / "m")
    path = tmp_path / "m" / name
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=rf"{path.name} was altered"):
        verified(tmp_path / "m")


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    fill(tmp_path / "m")
    (tmp_path / "m" / "a.txt").unlink()
    with pytest.raises(ModelError, match=r"a\.txt is missing"):
        verified(tmp_path / "m")


def test_a_stray_file_is_ignored(tmp_path):
    fill(tmp_path / "m")
    (tmp_path / "m" / ".DS_Store").write_text("x")
    assert verified(tmp_path / "m")["format"] == 1


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"sha256": 3}'])
def test_a_folder_without_a_readable_manifest_is_no_folder_of_ours(tmp_path, content):
    (tmp_path / "m").mkdir()
    if content is not None:
        (tmp_path / "m" / MANIFEST).write_text(content)
    with pytest.raises(ModelError, match="manifest"):
        verified(tmp_path / "m")


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


def test_the_working_folder_is_a_folder_too(tmp_path, monkeypatch):
    fill(tmp_path / "m")
    (tmp_path / "m" / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "m")
    assert verified(Path("."))["format"] == 1
    monkeypatch.chdir("inner")
    assert verified(Path(".."))["format"] == 1
