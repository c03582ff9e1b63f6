"""What failed where the system refuses a file."""

import errno
import json
import shutil

import numpy as np
import pytest

from tagwright.cli._files import told


def said(call):
    with pytest.raises(OSError) as caught:
        call()
    return told(caught.value)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "file").touch()
    return tmp_path / "file"


READS = {
    "text": lambda folder: folder.read_text(),
    "bytes": lambda folder: folder.read_bytes(),
    "open": lambda folder: folder.open(),
    "array": lambda folder: np.load(folder),
    "listing": lambda folder: list((folder / "nowhere").iterdir()),
}
WRITES = {
    "text": lambda folder: folder.write_text("x"),
    "open": lambda folder: folder.open("w"),
    "appending": lambda folder: folder.open("a+b"),
    "folder": lambda folder: folder.mkdir(),
    "deep folder": lambda folder: (folder / "a" / "b").mkdir(),
    "removing": lambda folder: shutil.rmtree(folder / "nowhere"),
}


@pytest.mark.parametrize("name", READS)
def test_reading_is_told(name, tmp_path):
    assert said(lambda: READS[name](tmp_path)).startswith(f"cannot read {tmp_path}")


@pytest.mark.parametrize("name", WRITES)
def test_writing_is_told(name, tmp_path):
    assert said(lambda: WRITES[name](tmp_path)).startswith(f"cannot write {tmp_path}")


def test_both_files_of_a_renaming_are_named(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    assert (
        said(lambda: one.rename(two)) == f"cannot write {one} as {two}: No such file or directory"
    )


def test_where_nobody_knows_no_claim_is_made(file):
    error = PermissionError(errno.EACCES, "Permission denied", "secret")
    assert told(error) == "cannot open secret: Permission denied"


def test_a_function_that_writes_may_read_first(file):
    """The call that failed tells, not the ones around it."""

    def write_summary():
        return json.loads((file / "deeper").read_text())

    assert said(write_summary) == f"cannot read {file / 'deeper'}: Not a directory"


def test_without_room_it_was_writing_and_a_connection_is_no_file():
    assert (
        told(OSError(errno.ENOSPC, "No space left on device"))
        == "cannot write a file: No space left on device"
    )
    assert told(ConnectionError("no route to the hub")) == "no route to the hub"
    assert told(OSError()) == "OSError"
