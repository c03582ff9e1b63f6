"""Sealed folders: what is read is what the manifest vouches for, all of one moment, and nothing
else is read.
"""

import hashlib
import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from tagwright.errors import ModelError
from tagwright.storage import checked
from tagwright.storage.checked import MANIFEST, opened, verified
from tagwright.storage.folder import written


def names_in(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


def fill(folder, text="one", *, overwrite=False):
    with written(folder, about={"format": 1}, overwrite=overwrite) as aside:
        (aside / "a.txt").write_text(text)
        (aside / "w.safetensors").write_text(text * 3)
        (aside / "deep" / "er").mkdir(parents=True)
        (aside / "deep" / "er" / "b.bin").write_bytes(b"\0\1")


def listed(folder, files):
    """Change what the manifest lists."""
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(
        json.dumps({**manifest, "sha256": {**manifest["sha256"], **files}})
    )


def digest(content=b""):
    return hashlib.sha256(content).hexdigest()


def test_the_content_of_listed_files_is_there(tmp_path):
    fill(tmp_path / "m")
    with opened(tmp_path / "m") as files:
        assert (files.text("a.txt"), files.texts["deep/er/b.bin"]) == ("one", b"\0\1")
        files.check("w.safetensors")
        assert files.opened("w.safetensors").name.endswith("w.safetensors")
        assert files.digest == digest((tmp_path / "m" / MANIFEST).read_bytes())


def test_a_file_that_is_not_listed_is_not_there(tmp_path):
    fill(tmp_path / "m")
    (tmp_path / "m" / "b.txt").write_text("x")
    with opened(tmp_path / "m") as files, pytest.raises(ModelError, match=r"does not list b\.txt"):
        files.text("b.txt")


def test_what_replaces_a_folder_changes_nothing_for_who_has_opened_it(tmp_path):
    fill(tmp_path / "m")
    with opened(tmp_path / "m") as files:
        fill(tmp_path / "m", "two", overwrite=True)
        files.check("w.safetensors")
        assert (files.text("a.txt"), files.opened("w.safetensors").raw.read()[:0]) == ("one", b"")
    assert verified(tmp_path / "m")


@pytest.mark.parametrize("moment", range(4))
@pytest.mark.parametrize("gone", [False, True])
def test_a_folder_that_is_replaced_while_it_is_opened_is_opened_anew(
    tmp_path, monkeypatch, moment, gone
):
    """Whether a file of the new folder or none is found where the next one of the old folder
    was.
    """
    fill(tmp_path / "m")
    real, calls = checked.regular_file, []

    def replacing(path, files):
        calls.append(path)
        if len(calls) == moment + 1:
            if gone:
                (tmp_path / "m").rename(tmp_path / ".m.old")
            else:
                fill(tmp_path / "m", "two", overwrite=True)
        return real(path, files)

    monkeypatch.setattr(checked, "regular_file", replacing)
    with opened(tmp_path / "m") as files:
        assert files.text("a.txt") == ("one" if gone else "two")
        files.check("w.safetensors")


def test_a_folder_that_never_stands_still_is_given_up(tmp_path, monkeypatch):
    fill(tmp_path / "m")
    monkeypatch.setattr(checked, "ATTEMPTS", 3)
    monkeypatch.setattr(checked.os.path, "samestat", lambda one, other: False)
    with pytest.raises(ModelError, match="again and again"):
        verified(tmp_path / "m")


def test_between_two_renames_the_old_folder_is_read_and_not_moved(tmp_path):
    fill(tmp_path / "m")
    (tmp_path / "m").rename(tmp_path / ".m.old")
    before = names_in(tmp_path)
    assert verified(tmp_path / "m")["format"] == 1
    assert names_in(tmp_path) == before


@pytest.mark.parametrize(
    "name",
    [
        "../out.txt",
        "/etc/hostname",
        "deep/../a.txt",
        "./a.txt",
        "deep//er/b.bin",
        "",
        "C:a",
        "a\\b",
        "a\0b",
    ],
)
def test_a_name_that_is_no_path_inside_is_refused(tmp_path, name):
    fill(tmp_path / "m")
    (tmp_path / "out.txt").write_text("x")
    listed(tmp_path / "m", {name: digest(b"x")})
    with pytest.raises(ModelError, match="not a path inside"):
        verified(tmp_path / "m")


def test_a_name_that_no_such_folder_has_is_refused_before_any_file_is_read(tmp_path):
    fill(tmp_path / "m")
    with (tmp_path / "m" / "x").open("wb") as file:
        file.truncate(2**24)
    listed(tmp_path / "m", {"x": digest()})
    with (
        pytest.raises(ModelError, match="'x', which is not a file of such"),
        opened(tmp_path / "m", known="x".__ne__),
    ):
        pass


@pytest.mark.parametrize("name", ["a.txt", "w.safetensors", "deep", MANIFEST])
def test_a_link_in_the_folder_is_not_followed(tmp_path, name):
    fill(tmp_path / "m")
    (tmp_path / "m" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "m" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match=f"{name} is a link"):
        verified(tmp_path / "m")


@pytest.mark.parametrize("name", ["a.txt", "w.safetensors", MANIFEST])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    fill(tmp_path / "m")
    (tmp_path / "m" / name).unlink()
    os.mkfifo(tmp_path / "m" / name)
    found = []

    def attempt():
        with pytest.raises(ModelError, match=f"{name} is not a regular file"):
            verified(tmp_path / "m")
        found.append(True)

    reader = threading.Thread(target=attempt, daemon=True)
    reader.start()
    reader.join(20)
    assert found


@pytest.mark.parametrize("name", ["a.txt", "deep/er/b.bin", MANIFEST])
def test_a_file_with_more_bytes_than_belong_there_is_not_read(tmp_path, name):
    fill(tmp_path / "m")
    with (tmp_path / "m" / name).open("r+b") as file:
        file.truncate(2**24)
    with pytest.raises(ModelError, match="bytes, and no more than"):
        verified(tmp_path / "m")


def test_many_files_share_the_room_that_one_has(tmp_path, monkeypatch):
    fill(tmp_path / "m")
    monkeypatch.setattr(checked, "SMALL", 4)
    monkeypatch.setattr(checked, "SHARE", 0)
    with pytest.raises(ModelError, match="no more than"):
        verified(tmp_path / "m")


def test_a_file_that_cannot_be_read_is_told_so(tmp_path, monkeypatch):
    fill(tmp_path / "m")

    def refusing(path):
        if str(path).endswith("a.txt"):
            raise PermissionError(13, "Permission denied")
        return os.stat(path, follow_symlinks=False)

    monkeypatch.setattr("tagwright.storage.checked.os.lstat", refusing)
    with pytest.raises(ModelError, match=r"a\.txt cannot be read: Permission denied"):
        verified(tmp_path / "m")


def test_a_file_with_other_tensors_is_an_error_that_names_it(tmp_path):
    fill(tmp_path / "m")
    shutil.copyfile(tmp_path / "m" / "a.txt", tmp_path / "m" / "w.safetensors")
    with pytest.raises(ModelError, match=r"w\.safetensors was altered"):
        verified(tmp_path / "m")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"sha256": {}, "x": NaN}', '{"sha256": []}'])
def test_a_manifest_of_another_form_is_refused(tmp_path, content):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / MANIFEST).write_text(content)
    with pytest.raises(ModelError, match="no manifest of ours"):
        verified(tmp_path / "m")


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


def test_the_working_folder_is_a_folder_too(tmp_path, monkeypatch):
    fill(tmp_path / "m")
    (tmp_path / "m" / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "m")
    assert verified(Path("."))["format"] == 1
    monkeypatch.chdir("inner")
    assert verified(Path(".."))["format"] == 1
