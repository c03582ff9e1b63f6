"""Writing tables by suffix, in shards that join."""

import csv
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from tagwright.errors import SettingsError
from tagwright.inference.write_tables import inert, writer

FIRST = pa.table({"a": ['x,"y"', "line\nbreak", None], "n": [1, 2, 3]})
SECOND = pa.table({"a": ["ü", "", "tab\there"], "n": [4, 5, 6]})


def joined(tmp_path, name):
    made, out, shards = writer(tmp_path / name), tmp_path / name, []
    for number, table in enumerate((FIRST, SECOND)):
        shards.append(tmp_path / f"shard-{number}")
        made.write(table, shards[-1], header=number == 0)
    made.join(shards, out)
    return out


@pytest.mark.parametrize(("name", "delimiter"), [("o.csv", ","), ("o.tsv", "\t")])
def test_shards_of_csv_join_to_one_file_with_one_header(tmp_path, name, delimiter):
    with joined(tmp_path, name).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=delimiter))
    assert rows == [
        ["a", "n"],
        ['x,"y"', "1"],
        ["line\nbreak", "2"],
        ["", "3"],
        ["ü", "4"],
        ["", "5"],
        ["tab\there", "6"],
    ]


def test_shards_of_json_lines_join(tmp_path):
    rows = [
        json.loads(line) for line in joined(tmp_path, "o.jsonl").read_text("utf-8").splitlines()
    ]
    assert rows == FIRST.to_pylist() + SECOND.to_pylist()


def test_shards_of_parquet_join(tmp_path):
    assert (
        parquet.read_table(joined(tmp_path, "o.parquet")).to_pylist()
        == FIRST.to_pylist() + SECOND.to_pylist()
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_name_that_is_not_utf_8_is_as_good_as_any(tmp_path, suffix):
    folder = tmp_path / "\udcff"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has names of UTF-8 only")
    plain = joined(tmp_path, f"o{suffix}").read_bytes()
    assert joined(folder, f"\udcff{suffix}").read_bytes() == plain


def test_joining_leaves_nothing_beside_the_file(tmp_path):
    for name in ("o.csv", "o.parquet"):
        joined(tmp_path, name)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "o.csv",
        "o.parquet",
        "shard-0",
        "shard-1",
    ]


def test_an_unknown_suffix_lists_the_known_ones(tmp_path):
    with pytest.raises(SettingsError, match=r"\.xlsx.*\.csv"):
        writer(tmp_path / "o.xlsx")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_a_cell_that_a_spreadsheet_would_run_is_made_inert(cell):
    for kind in (pa.string(), pa.large_string()):
        assert inert(pa.table({"a": pa.array([cell], kind)}))["a"].to_pylist() == [f"'{cell}"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_a_column_name_that_a_spreadsheet_would_run_is_made_inert(name):
    """Whatever the column holds."""
    for cells in (pa.array(["x"]), pa.array([1]), pa.array([["x"]])):
        assert inert(pa.table({"a": [0], name: cells})).column_names == ["a", f"'{name}"]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["=1", None]).dictionary_encode(),
        pa.array([b"=1", None]),
        pa.array([b"=1", None], pa.binary(2)),
    ],
    ids=["categories", "bytes", "bytes-of-one-length"],
)
def test_cells_that_become_text_in_a_csv_file_are_made_inert(cells, tmp_path):
    writer(tmp_path / "o.csv").write(inert(pa.table({"a": cells})), tmp_path / "o.csv", header=True)
    assert (tmp_path / "o.csv").read_text().split("\n")[1] == '"\'=1"'


@pytest.mark.parametrize("cell", ["x=1", "a-b", " =1", "", None, "'=1", "x\n=1"])
def test_other_cells_stay_as_they_are(cell):
    assert inert(pa.table({"a": pa.array([cell], pa.string())}))["a"].to_pylist() == [cell]


def test_numbers_stay_numbers():
    table = pa.table({"n": [-1, 2]})
    assert inert(table).equals(table)


def test_a_value_that_json_does_not_know_is_written_as_text(tmp_path):
    writer(tmp_path / "o.jsonl").write(
        pa.table({"d": pa.array([0], pa.date32())}), tmp_path / "o.jsonl", header=True
    )
    assert json.loads((tmp_path / "o.jsonl").read_text()) == {"d": "1970-01-01"}


def test_a_number_that_is_not_finite_leaves_the_line_readable_json(tmp_path):
    table = pa.table({"b": pa.array([float("nan"), float("inf")])})
    writer(tmp_path / "o.jsonl").write(table, tmp_path / "o.jsonl", header=True)
    for line in (tmp_path / "o.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
