"""Files that are whole or not there, and what is said where the disk takes no more."""

import errno
import json
import os
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import csv, parquet
from safetensors.torch import save_file

from tagwright.errors import TagwrightError, WriteError
from tagwright.storage import files
from tagwright.storage.files import (
    append,
    exchanged,
    json_ready,
    replaced,
    value_of,
    write_json,
    write_text,
    writing,
)

from ..full_disk import room

NUMBERS = np.random.default_rng(0).random(50_000)
WRITERS = {
    "text": lambda path: path.write_text("x" * 400_000),
    "safetensors": lambda path: save_file({"a": torch.from_numpy(NUMBERS)}, path),
    "numpy": lambda path: np.save(path.open("wb"), NUMBERS),
    "numpy, zipped": lambda path: np.savez(path.open("wb"), a=NUMBERS),
    "csv": lambda path: csv.write_csv(pa.table({"a": NUMBERS}), path),
    "parquet": lambda path: parquet.write_table(pa.table({"a": NUMBERS}), path),
}


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", WRITERS)
def test_whatever_writes_the_error_names_the_file_and_the_old_one_stands(name, tmp_path):
    path = tmp_path / "kept"
    path.write_text("old")
    with pytest.raises(WriteError) as caught, room(10_000), replaced(path) as aside:
        WRITERS[name](aside)
    assert str(caught.value).startswith(f"cannot write {path}: ")
    assert isinstance(caught.value, TagwrightError)
    assert (path.read_text(), names(tmp_path)) == ("old", {"kept"})


def test_a_full_disk_is_said_with_its_cure(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError) as caught:
        write_json(tmp_path / "about.json", {})
    said = (
        f"cannot write {tmp_path / 'about.json'}: no space left on device; free some space and"
        " go on"
    )
    assert (str(caught.value), names(tmp_path)) == (said, set())


def test_other_errors_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / "nowhere" / "a", "x")
    with pytest.raises(KeyError), writing(tmp_path / "a"):
        raise KeyError("a")


def test_a_file_is_new_or_old_while_it_is_written(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})

    def half(aside):
        aside.write_text('{"a"')
        assert json.loads(path.read_text()) == {"a": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replaced(path) as aside:
        half(aside)
    assert (json.loads(path.read_text()), names(tmp_path)) == ({"a": 1}, {"a.json"})


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(files, "_synced", lambda path: done.append((path.name, names(tmp_path))))
    monkeypatch.setattr(
        files, "sync_folder", lambda path: done.append((path.name, names(tmp_path)))
    )
    write_text(tmp_path / "a", "x")
    aside = ".a.part"
    assert done == [(aside, {aside}), (tmp_path.name, {"a"})]


def test_a_file_name_that_is_not_utf_8_is_written_as_escapes(tmp_path):
    write_text(tmp_path / "page.html", "ü of \udcff.csv")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == r"ü of \udcff.csv"


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_pipe_is_written_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "page")
    assert os.read(reader, 10) == b"page"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    os.close(reader)


def test_what_was_added_in_part_is_taken_back(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"one\n")
    with room(8), pytest.raises(WriteError, match="rows"):
        append(path, b"two and three\n")
    assert path.read_bytes() == b"one\n"
    append(path, b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), np.float32("nan")])
def test_numbers_that_are_not_finite_become_null(number):
    assert json_ready({"a": [number, (number,)]}) == {"a": [None, [None]]}


def test_numpy_numbers_become_python_numbers():
    found = json_ready([np.int64(3), np.float32(0.5), np.bool_(True)])
    assert json.dumps(found) == "[3, 0.5, true]"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (1.0, int),
        ("1", int),
        (float("nan"), float),
        (float("inf"), float),
        (None, str),
    ],
)
def test_a_value_of_another_type_is_refused(value, kind):
    with pytest.raises(ValueError, match=f"width must be of type {kind.__name__}"):
        value_of({"width": value}, "width", kind)


def test_a_value_that_is_missing_is_named():
    with pytest.raises(KeyError, match="width"):
        value_of({}, "width", int)


def folder(path, text):
    path.mkdir()
    (path / "a.txt").write_text(text)
    return path


def test_two_folders_swap_their_content(tmp_path):
    one, other = folder(tmp_path / "one", "1"), folder(tmp_path / "ü", "2")
    if not exchanged(one, other):
        pytest.skip("this system or file system cannot swap folders")
    assert ((one / "a.txt").read_text(), (other / "a.txt").read_text()) == ("2", "1")


def test_a_relative_path_starts_in_the_working_folder(tmp_path, monkeypatch):
    one, other = folder(tmp_path / "one", "1"), folder(tmp_path / "other", "2")
    monkeypatch.chdir(tmp_path)
    swapped = exchanged(Path("one"), Path("other"))
    assert ((one / "a.txt").read_text(), (other / "a.txt").read_text()) == (
        ("2", "1") if swapped else ("1", "2")
    )


def test_what_cannot_be_swapped_stays(tmp_path):
    one = folder(tmp_path / "one", "1")
    assert not exchanged(one, tmp_path / "nowhere")
    assert [p.name for p in tmp_path.iterdir()] == ["one"]
