"""The bytes of a text file, past its mark, and what is no text is refused."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tagwright.data.files import text_bytes
from tagwright.data.readers.by_suffix import read_file
from tagwright.errors import DataError


@pytest.mark.parametrize("name", ["a.txt", "a.conll"])
def test_a_file_that_becomes_shorter_after_it_was_read_ends_no_process(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text("tent O\n" * 10_000, encoding="utf-8")
    code = (
        "import os, sys; from pathlib import Path;"
        "from tagwright.data.files.text_bytes import load;"
        "found = load(Path(sys.argv[1])); os.truncate(sys.argv[1], 0); print(len(bytes(found)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "70000\n")


def test_a_file_that_becomes_empty_while_it_is_read_has_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = text_bytes.head
    monkeypatch.setattr(text_bytes, "head", lambda path: start(path) and path.write_bytes(b""))
    for name in ("a.txt", "a.conll"):
        (tmp_path / name).write_text("tent O\n", encoding="utf-8")
    assert not any(read_file(tmp_path / "a.txt")["text"].to_pylist())
    with pytest.raises(DataError, match="no sentence"):
        read_file(tmp_path / "a.conll")


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("end", ["", "\n"])
def test_blocks_are_whole_lines_and_together_the_file_past_its_mark(
    tmp_path: Path, size: int, end: str
) -> None:
    path, content = tmp_path / "a.txt", f"one\n\nthree é\nfour{end}".encode()
    path.write_bytes(text_bytes.UTF8_MARK + content)
    blocks = list(text_bytes.line_blocks(path, size))
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(block.strip() for block in blocks)
    assert b"".join(blocks).split() == content.split()


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_file_is_loaded_without_its_mark_and_line_by_line_without_line_ends(
    tmp_path: Path, name: str
) -> None:
    path, content = tmp_path / name, "é one\r\n\nthree".encode()
    packed = text_bytes.UTF8_MARK + content
    path.write_bytes(gzip.compress(packed) if name.endswith(".gz") else packed)
    assert text_bytes.load(path).to_pybytes() == content
    assert text_bytes.head(path, 6) == "é "
    assert text_bytes.lines(path).to_pylist() == ["é one", "", "three"]
    assert text_bytes.count_in_file(path, ord("\n")) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (text_bytes.UTF8_MARK + b" \n", "the file is empty"),
        ("one\ntwo".encode("utf-16"), "the file is UTF-16; convert it"),
        (("one two " * 20).encode("utf-16-le"), "the file is UTF-16; convert it"),
        (b"one\ntw\0o\n", r"a\.txt, line 2, byte 3: a NUL byte"),
    ],
)
def test_what_is_no_utf_8_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        text_bytes.load(path)


def test_a_broken_byte_is_an_error_that_names_its_line_and_shows_in_a_head(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ncaf\xe9\n")
    assert text_bytes.head(path) == "one\ncaf\ufffd\n"
    with pytest.raises(DataError, match=r"a\.txt, line 2, column 4: byte 0xE9 is not UTF-8"):
        text_bytes.lines(path)
