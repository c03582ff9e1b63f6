"""Integers beyond 64 bits keep their digits: in columns, lists and objects, in whole files and in
pieces.
"""

import importlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tagwright.data import jsonl, read_data, stream
from tagwright.errors import DataError

LONG = 12345678901234567890123
MOST, LEAST = 2**63 - 1, -(2**63)


def save(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def both(path: Path) -> list[dict[str, Any]]:
    """The rows of the whole file, which are those of its pieces."""
    whole = jsonl(path).to_pylist()
    assert [row for batch in stream(path) for row in batch.to_pylist()] == whole
    return whole


@pytest.mark.parametrize("long", [LONG, -LONG, MOST + 1, LEAST - 1, 10**400])
def test_a_column_with_an_integer_beyond_64_bits_is_text_digit_for_digit(
    tmp_path: Path, long: int
) -> None:
    rows = [{"a": "x", "n": 1}, {"a": "y", "n": long}, {"a": "z", "n": None}, {"a": "7"}]
    found = both(save(tmp_path / "a.jsonl", rows))
    assert [row["n"] for row in found] == ["1", str(long), None, None]
    assert [row["a"] for row in found] == ["x", "y", "z", "7"]


def test_integers_of_64_bits_stay_integers(tmp_path: Path) -> None:
    rows = [{"n": MOST}, {"n": LEAST}]
    assert both(save(tmp_path / "a.jsonl", rows)) == rows


def test_more_digits_than_python_reads_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": %s, "text": "a"}\n' % ("9" * 5000))
    assert both(tmp_path / "a.jsonl") == [{"n": "9" * 5000, "text": "a"}]


def test_inside_of_lists_and_objects_too(tmp_path: Path) -> None:
    rows = [{"a": [LONG, 1], "b": {"c": 2, "d": [{"e": LONG, "f": 0.5}]}}, {"a": [3], "b": None}]
    first, second = both(save(tmp_path / "a.jsonl", rows))
    assert first == {"a": [str(LONG), "1"], "b": {"c": 2, "d": [{"e": str(LONG), "f": 0.5}]}}
    assert second == {"a": ["3"], "b": None}


def test_large_floats_stay_floats(tmp_path: Path) -> None:
    rows = [{"n": 1e300, "m": 1}, {"n": 2.5, "m": 2}]
    assert both(save(tmp_path / "a.jsonl", rows)) == rows


def test_a_long_integer_that_comes_late_makes_text_of_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("tagwright.data.readers.jsonl"), "JSON_BLOCK", 256)
    rows = [{"n": n, "x": "y" * 20} for n in range(40)] + [{"n": LONG, "x": "z"}]
    found = both(save(tmp_path / "a.jsonl", rows))
    assert [row["n"] for row in found] == [*map(str, range(40)), str(LONG)]


def test_long_integers_are_labels_that_differ(tmp_path: Path) -> None:
    rows = [{"text": f"a {n}", "labels": [LONG + n % 2, 7]} for n in range(4)]
    data = read_data(save(tmp_path / "a.jsonl", rows))
    assert data.first["labels"].to_pylist() == [[str(LONG + n % 2), "7"] for n in range(4)]


def test_a_float_that_is_too_large_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n{"n": 1e400}\n')
    for read in (jsonl, lambda path: list(stream(path))):
        with pytest.raises(
            DataError,
            match=r"^a.jsonl, line 2: the number 1e400 is too large; write it as a string",
        ):
            read(tmp_path / "a.jsonl")


def test_an_object_of_many_keys_takes_time_in_proportion_to_them(tmp_path: Path) -> None:
    row = {"a": "x", "n": {f"k{number}": number for number in range(12_000)}}
    path = save(tmp_path / "a.jsonl", [{"a": "y"}, row])
    before = time.process_time()
    assert jsonl(path)["n"][1].as_py() == row["n"]
    assert time.process_time() - before < 5  # 20 s where each key looks at all the others
