"""What is no file is refused by every reader, and a file may have any name."""

import gzip
import os
from pathlib import Path

import pytest

from tagwright.data import read_data, stream
from tagwright.data.readers.by_suffix import read_batches, read_file
from tagwright.errors import DataError

CSV = "text,labels\na tent,camp\na knife,kitchen\n"
NAMES = ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet", "a.txt", "a.conll"]


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for read in (read_data, read_file, lambda path: list(stream(path))):
        with pytest.raises(DataError, match="a pipe or a device, expected a file, because it is"):
            read(tmp_path / name)


def test_a_folder_is_not_read_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(DataError, match=r"a\.csv: a folder, expected a file"):
        list(read_batches(tmp_path / "a.csv"))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".CSV.GZ", ".jsonl", ".parquet", ".txt"])
def test_a_name_that_is_not_utf_8_is_as_good_as_any(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / os.fsdecode(b"\xff" + suffix.encode())
    try:
        path.write_bytes(b"")
    except OSError:
        pytest.skip("this file system has names of UTF-8 only")
    plain = tmp_path / f"plain{suffix}"
    _write(plain)
    plain.replace(path)
    assert read_file(path)["text"].to_pylist() == ["a tent", "a knife"]
    assert [row["text"] for part in stream(path) for row in part.to_pylist()] == [
        "a tent",
        "a knife",
    ]


def test_a_fault_in_a_file_of_any_name_is_told(tmp_path: Path) -> None:
    path = tmp_path / "\udcff.csv"
    path.write_text(CSV + "x\n")
    with pytest.raises(DataError, match="line 4: 1 column, expected 2"):
        read_file(path)


def _write(path: Path) -> None:
    """The rows of `CSV` in the format of the suffix."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [{"text": "a tent", "labels": "camp"}, {"text": "a knife", "labels": "kitchen"}]
    content = {
        ".csv": CSV,
        ".jsonl": "".join(f'{{"text": "{row["text"]}"}}\n' for row in rows),
        ".txt": "".join(f"__label__{row['labels']} {row['text']}\n" for row in rows),
    }
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix.lower() == ".gz":
        path.write_bytes(gzip.compress(CSV.encode()))
    else:
        path.write_text(content[path.suffix], encoding="utf-8")
