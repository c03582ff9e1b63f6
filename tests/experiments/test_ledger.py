"""Finished runs in a file: nothing that was written is lost."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tagwright.errors import WriteError
from tagwright.experiments.ledger import Ledger, current, packed, unpacked

from ..full_disk import room


def test_rows_are_there_again(tmp_path):
    first = Ledger(tmp_path / "deep" / "r.jsonl")
    first.add({"key": "a", "score": 0.5})
    first.add({"key": "b", "score": float("nan")})
    again = Ledger(tmp_path / "deep" / "r.jsonl")
    assert again.finished("a") == {"key": "a", "score": 0.5}
    assert again.finished("b") == {"key": "b", "score": None}
    assert again.finished("c") is None


def test_a_file_name_that_is_not_utf_8_comes_back(tmp_path):
    Ledger(tmp_path / "r.jsonl").add({"key": "a", "data": "\udcff.csv"})
    assert Ledger(tmp_path / "r.jsonl").rows["a"]["data"] == "\udcff.csv"


def test_a_failed_run_is_not_finished_until_it_ends_well(tmp_path):
    ledger = Ledger(tmp_path / "r.jsonl")
    ledger.add({"key": "a", "failed": "no"})
    assert ledger.finished("a") is None
    ledger.add({"key": "a", "score": 1})
    assert Ledger(tmp_path / "r.jsonl").finished("a") == {"key": "a", "score": 1}


def test_a_torn_line_is_said_and_spoils_no_other(tmp_path):
    path, said = tmp_path / "r.jsonl", []
    path.write_text('{"key": "a"}\n{"key": "b", "sco')
    ledger = Ledger(path, said.append)
    assert said == ["r.jsonl, line 2 is torn; its run is made again"]
    ledger.add({"key": "c"})
    assert list(Ledger(path).rows) == ["a", "c"]
    assert json.loads(path.read_text().splitlines()[-1]) == {"key": "c"}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 41])
def test_answers_come_back_bit_by_bit(count):
    values = np.random.default_rng(count).random(count) < 0.5
    np.testing.assert_array_equal(unpacked(packed(values), count), values)


def test_rows_of_earlier_versions_are_read(tmp_path):
    """They called the metrics "test", also where dev was scored."""
    path, dev, test = (
        tmp_path / "r.jsonl",
        {"lrap": 0.5, "one_error": None},
        {"lrap": 0.4, "one_error": 0.1},
    )
    rows = [{"key": "a", "dev": dev, "test": test}, {"key": "b", "dev": dev, "test": dev}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = Ledger(path).rows
    assert found["a"] == {"key": "a", "dev": dev, "scored": test, "on": "test"}
    assert found["b"] == {"key": "b", "dev": dev, "scored": dev, "on": "dev"}


@pytest.mark.parametrize(
    "name", ["objectives", "objectives-one", "combinations", "combinations-one"]
)
def test_the_runs_behind_the_documentation_are_read(name):
    path = Path(__file__).parents[2] / "docs" / "results" / "runs" / f"{name}.jsonl.gz"
    rows = [current(json.loads(line)) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert len(rows) > 0
    assert all(
        row["on"] == "test" and "macro_f1" in row["scored"] for row in rows if "failed" not in row
    )


def test_a_line_that_is_torn_within_a_letter_spoils_no_other(tmp_path):
    """The whole file was refused as not UTF-8, and with it every finished run."""
    path, said = tmp_path / "r.jsonl", []
    path.write_bytes('{"key": "a"}\n{"key": "ä'.encode()[:-1])
    assert list(Ledger(path, said.append).rows) == ["a"]
    assert said == ["r.jsonl, line 2 is torn; its run is made again"]


@pytest.mark.parametrize("line", ["1", "[]", "{}", "null", "\0\0\0\0", '"key"'])
def test_a_line_that_is_no_row_is_said(tmp_path, line):
    path, said = tmp_path / "r.jsonl", []
    path.write_text(f'{line}\n{{"key": "a"}}\n')
    assert list(Ledger(path, said.append).rows) == ["a"]
    assert said == ["r.jsonl, line 1 is torn; its run is made again"]


def test_a_row_that_the_disk_does_not_take_leaves_the_others_whole(tmp_path):
    path, said = tmp_path / "r.jsonl", []
    ledger = Ledger(path)
    ledger.add({"key": "a"})
    with room(20), pytest.raises(WriteError, match=f"cannot write {path}"):
        ledger.add({"key": "b", "score": 0.25})
    assert (list(ledger.rows), path.read_text()) == (["a"], '{"key": "a"}\n')
    ledger.add({"key": "b", "score": 0.5})
    assert list(Ledger(path, said.append).rows) == ["a", "b"]
    assert said == []
