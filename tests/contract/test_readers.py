"""What every reader of a file format keeps, whichever package it came from."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from tagwright import registry
from tagwright.data import Reader
from tagwright.data.readers.by_suffix import read_batches, read_file, reader_of, readers
from tagwright.errors import DataError

NAMES = registry.names("readers")
ROWS = [{"text": f"some words {n}", "labels": f"a{n % 2}"} for n in range(5)]
# the same rows in the formats that are tables of text and label; others have tests of their own
SAMPLES = {
    ".csv": "text,labels\n" + "".join(f"{row['text']},{row['labels']}\n" for row in ROWS),
    ".tsv": "text\tlabels\n" + "".join(f"{row['text']}\t{row['labels']}\n" for row in ROWS),
    ".psv": "text|labels\n" + "".join(f"{row['text']}|{row['labels']}\n" for row in ROWS),
    ".jsonl": "".join(
        f'{{"text": "{row["text"]}", "labels": "{row["labels"]}"}}\n' for row in ROWS
    ),
    ".txt": "".join(f"__label__{row['labels']} {row['text']}\n" for row in ROWS),
}

pytestmark = pytest.mark.parametrize("name", NAMES)


def reader(name: str) -> type[Reader]:
    return registry.find("readers", name).factory


def test_it_declares_suffixes_that_no_other_reader_has(name: str):
    assert reader(name).suffixes
    for suffix in reader(name).suffixes:
        assert suffix == suffix.lower()
        assert suffix.startswith(".")
        assert [part.name for part in readers()[suffix]] == [name]
        assert reader_of(Path(f"data{suffix}.gz")) is reader(name)


def test_a_missing_file_is_a_fault_of_the_data(name: str, tmp_path: Path):
    for suffix in reader(name).suffixes:
        with pytest.raises(DataError, match="missing"):
            read_file(tmp_path / f"missing{suffix}")


def test_an_empty_file_is_a_table_without_rows_or_a_fault_that_names_it(name: str, tmp_path: Path):
    path = tmp_path / f"empty{reader(name).suffixes[0]}"
    path.write_bytes(b"")
    try:
        found = read_file(path)
    except DataError as error:
        said = str(error)
    else:
        assert found.num_rows == 0
        return
    assert path.name in said


def test_pieces_are_the_whole(name: str, tmp_path: Path):
    for suffix in set(reader(name).suffixes) & {*SAMPLES, ".parquet"}:
        path = tmp_path / f"a{suffix}"
        if suffix == ".parquet":
            pa.parquet.write_table(pa.Table.from_pylist(ROWS), path)
        else:
            path.write_text(SAMPLES[suffix], encoding="utf-8")
        whole = read_file(path).to_pylist()
        assert [row for batch in read_batches(path) for row in batch.to_pylist()] == whole
        assert [row["text"] for row in whole] == [row["text"] for row in ROWS]
