"""Finished runs in a file: nothing that was written is lost."""

import json

import numpy as np
import pytest

from tagwright.assemble.ledger import Ledger, packed, unpacked


def test_rows_are_there_again(tmp_path):
    first = Ledger(tmp_path / "deep" / "r.jsonl")
    first.add({"key": "a", "score": 0.5})
    first.add({"key": "b", "score": float("nan")})
    again = Ledger(tmp_path / "deep" / "r.jsonl")
    assert again.finished("a") == {"key": "a", "score": 0.5}
    assert again.finished("b") == {"key": "b", "score": None}
    assert again.finished("c") is None


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
