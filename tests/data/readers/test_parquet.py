"""Parquet columns come as they are stored."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tagwright.data import parquet
from tagwright.errors import DataError


def test_columns_come_as_stored(tmp_path: Path) -> None:
    table = pa.table({"text": ["a", None], "labels": [["x"], []], "n": [1, 2]})
    pq.write_table(table.replace_schema_metadata({"pandas": "{}"}), tmp_path / "a.parquet")
    assert parquet(tmp_path / "a.parquet").equals(table)
    assert parquet(tmp_path / "a.parquet").schema.metadata is None


def test_a_file_that_is_no_parquet_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("text,labels\n")
    with pytest.raises(DataError, match=r"^a.parquet: not a sound Parquet file"):
        parquet(tmp_path / "a.parquet")


def test_a_cut_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a"] * 999}), tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"^a.parquet: not a sound Parquet file"):
        parquet(tmp_path / "a.parquet")
