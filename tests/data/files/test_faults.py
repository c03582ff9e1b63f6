"""The slow pass: a sound file has no fault, a place is counted right."""

import csv
import random
import time
from pathlib import Path

import pytest

from tagwright.data.files import faults
from tagwright.data.files.faults import Origin, csv_fault, json_fault, text_fault


def test_rows_are_counted_within_their_file() -> None:
    origin = Origin(("train.csv", "dev.csv", "test.csv"), (3, 1, 2))
    places = [origin.at(row) for row in range(6)]
    assert places == [f"train.csv, row {i}" for i in (1, 2, 3)] + [
        "dev.csv, row 1",
        "test.csv, row 1",
        "test.csv, row 2",
    ]


def test_a_sound_csv_file_has_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufefftext,label\n"a\nb",x\n\n5" screen,y\n'.encode())
    assert csv_fault(path, ",") is None


def test_a_sound_json_file_has_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x", "b": 1}\n\n{"a": null, "b": 1.5, "c": {"d": [1]}}\n')
    assert json_fault(path) is None


def test_a_cell_beyond_pythons_limit_is_no_fault_and_the_limit_stays(tmp_path: Path) -> None:
    path, limit = tmp_path / "a.csv", csv.field_size_limit()
    path.write_text("text,label\n" + "x" * (limit + 1) + ",y\n")
    assert csv_fault(path, ",") is None
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("seed", range(5))
def test_a_broken_byte_is_found_in_its_line_and_column(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    lines = ["".join(draw.choices("aé中😀", k=7)) for _ in range(11)]
    line, column = draw.randrange(11), draw.randrange(7)
    content = [text.encode() for text in lines]
    content[line] = lines[line][:column].encode() + b"\xff" + lines[line][column:].encode()
    (tmp_path / "a.txt").write_bytes(b"\n".join(content))
    assert f"a.txt, line {line + 1}, column {column + 1}: byte 0xFF" in str(
        text_fault(tmp_path / "a.txt")
    )


def test_a_fault_has_its_line_wherever_the_pieces_that_are_looked_at_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "FEW", 10)
    path = tmp_path / "a.txt"
    lines = [b"\xc3\xbc" * (n % 9) for n in range(40)]
    for place in range(40):
        found = [*lines[:place], b"ab\0", *lines[place:]]
        path.write_bytes(b"\n".join(found))
        assert f"line {place + 1}, byte 3: a NUL byte" in str(text_fault(path))
        path.write_bytes(b"\n".join([*lines[:place], b"a\xff", *lines[place:]]))
        assert f"line {place + 1}, column 2: byte 0xFF" in str(text_fault(path))
    path.write_bytes(b"\n".join(lines))
    assert text_fault(path) is None


def test_millions_of_short_lines_before_a_fault_take_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b'"\n' * 20_000_000 + b"\xff")
    before = time.process_time()
    assert "line 20000001, column 1" in str(text_fault(path))
    assert time.process_time() - before < 1.5  # 7 s line by line


def test_millions_of_equal_objects_before_a_fault_take_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n' * 1_000_000 + b'{"a": "x"}\n')
    before = time.process_time()
    assert "line 2000001: 'a' is a string, but a number in line 1" in str(json_fault(path))
    assert time.process_time() - before < 5  # 40 s if each is parsed
