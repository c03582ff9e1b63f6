"""What is refused is refused with one message, whether a file is read whole or in pieces."""

import gzip
import importlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tagwright.data import read_data, stream
from tagwright.data.files.limits import DEPTH
from tagwright.data.readers.by_suffix import read_batches, read_file
from tagwright.data.stream import texts_of
from tagwright.errors import DataError

MODULES = [
    importlib.import_module(f"tagwright.data.{name}")
    for name in (
        "files.limits",
        "files.text_bytes",
        "files.faults",
        "readers.csv",
        "readers.jsonl",
        "readers.parquet",
    )
]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set limits lower, wherever they are known."""

    def lower(**limits: int) -> None:
        for name, value in limits.items():
            for module in MODULES:
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, value)

    return lower


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> str:
    """The one message of both ways to read a file."""
    said = []
    for read in (read_file, lambda path: list(read_batches(path))):
        with pytest.raises(DataError) as caught:
            read(path)
        said.append(str(caught.value))
    assert said[0] == said[1]
    return said[0]


@pytest.mark.parametrize("levels", [DEPTH, 1000, 10_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_json_that_is_nested_too_deep_is_refused_with_its_line(
    tmp_path: Path, levels: int, opening: str, closing: str
) -> None:
    deep = f'{{"text": "b", "unused": {opening * levels}1{closing * levels}}}\n'
    said = refusal(save(tmp_path / "a.jsonl", '{"text": "a"}\n' + deep))
    assert said.startswith(f"a.jsonl, line 2: nested more than {DEPTH} levels deep")


def test_json_may_be_nested_as_deep_as_the_limit(tmp_path: Path) -> None:
    levels = DEPTH - 1  # the row itself is one
    path = save(tmp_path / "a.jsonl", f'{{"text": "a", "unused": {"[" * levels}{"]" * levels}}}\n')
    assert read_file(path)["text"].to_pylist() == ["a"]
    assert sum(batch.num_rows for batch in read_batches(path)) == 1


@pytest.mark.parametrize(
    ("name", "start"), [("a.csv", "text,n\na,1\n"), ("a.jsonl", '{"text": "a"}\n')]
)
def test_a_line_without_end_is_refused_with_its_number(
    tmp_path: Path, limit: Callable[..., None], name: str, start: str
) -> None:
    limit(ROW=1 << 20)
    path = save(tmp_path / name, start + "x" * (9 << 20))
    assert refusal(path).endswith(
        "longer than 1,048,576 bytes, the most that a row may have; is a line end or a quote"
        " missing?"
    )
    assert refusal(path).startswith(f"{name}, line {3 if name == 'a.csv' else 2}: ")


def test_an_open_quote_does_not_make_a_row_of_all_that_follows(
    tmp_path: Path, limit: Callable[..., None]
) -> None:
    limit(ROW=1 << 16, STREAM_BLOCK=1 << 14)
    path = save(tmp_path / "a.csv", 'text,n\na,1\n"b,2\n' + "some words,3\n" * 9000)
    assert refusal(path).startswith("a.csv, line 3: longer than 65,536 bytes")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt", "a.conll"])
def test_of_a_line_of_nul_bytes_only_a_part_is_read(
    tmp_path: Path, limit: Callable[..., None], name: str
) -> None:
    limit(ROW=1 << 20)
    start = {"a.csv": "text,n\n", "a.jsonl": '{"text": "a"}\n'}.get(name, "a B\n")
    with (tmp_path / name).open("wb") as file:
        file.write(start.encode())
        file.truncate(9 << 20)
    assert refusal(tmp_path / name) == f"{name}, line 2, byte 1: a NUL byte; is it a text file?"


def test_nul_bytes_alone_are_not_taken_for_utf_16(tmp_path: Path) -> None:
    assert "NUL byte" in refusal(save(tmp_path / "a.csv", b"a\n" + b"\0" * 400))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "b.jsonl", "b.parquet"])
def test_more_columns_than_the_limit_are_refused_with_their_number(
    tmp_path: Path, limit: Callable[..., None], name: str
) -> None:
    limit(COLUMNS=10)
    keys = {f"c{n}": n for n in range(10)}
    row = {"text": "x", **(keys if name[0] == "a" else {"inside": keys})}
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / name)
    elif name.endswith("csv"):
        save(tmp_path / name, ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n")
    else:
        save(tmp_path / name, json.dumps(row) + "\n")
    assert refusal(tmp_path / name).startswith(
        f"{name}: 11 columns, at most 10 are read; write labels as one column"
    )


def test_lines_that_share_no_key_are_refused_with_the_arithmetic(
    tmp_path: Path, limit: Callable[..., None]
) -> None:
    limit(CELLS=10_000)
    path = save(tmp_path / "a.jsonl", "".join(f'{{"k{n}": 1}}\n' for n in range(500)))
    assert "lines with" in refusal(path)
    assert "different keys make" in refusal(path)
    assert "cells, nearly all of them empty" in refusal(path)


def test_lines_with_keys_of_their_own_are_read_in_small_pieces(
    tmp_path: Path, limit: Callable[..., None]
) -> None:
    limit(CELLS=1000)
    rows = [{"text": f"some words {n}" * 9, f"k{n % 7}": n} for n in range(60)]
    path = save(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = list(read_batches(path))
    assert max(batch.num_rows * batch.num_columns for batch in found) <= 1000
    assert [
        {k: v for k, v in row.items() if v is not None}
        for batch in found
        for row in batch.to_pylist()
    ] == rows
    assert read_file(path).to_pylist() == [row for batch in found for row in batch.to_pylist()]


def bomb(path: Path, *, plain: bool = False) -> Path:
    """A small file, of whose column each value is the same long one."""
    values = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(1000, np.int32)), pa.array(["word " * 2000])
    )
    column = values.cast(pa.string()) if plain else values
    pq.write_table(pa.table({"text": ["a b"] * 1000, "other": column}), path, compression="zstd")
    return path


@pytest.mark.parametrize("plain", [False, True])
def test_a_dictionary_that_grows_beyond_measure_is_refused(
    tmp_path: Path, limit: Callable[..., None], plain: bool
) -> None:
    limit(LEAST_GROWTH=1 << 20)
    said = refusal(bomb(tmp_path / "a.parquet", plain=plain))
    assert (
        "grow to 10,004,000 or more when read; at most 1,048,576, or 500 times the file, are"
        " allowed" in said
    )


@pytest.mark.parametrize("plain", [False, True])
def test_values_of_a_dictionary_come_a_few_rows_at_a_time(
    tmp_path: Path, limit: Callable[..., None], plain: bool
) -> None:
    limit(FEW_BYTES=200_000, LEAST_GROWTH=1 << 14, GROWTH=1 << 30)
    path = bomb(tmp_path / "a.parquet", plain=plain)
    assert max(batch.num_rows for batch in read_batches(path)) <= 20
    assert read_file(path)["other"].to_pylist() == ["word " * 2000] * 1000


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "a.txt.gz"])
def test_a_compressed_file_that_grows_beyond_measure_is_refused(
    tmp_path: Path, limit: Callable[..., None], name: str
) -> None:
    limit(LEAST_GROWTH=1 << 20, GROWTH=100)
    line = {"a.csv.gz": "{},1\n", "a.jsonl.gz": '{{"text": "{}"}}\n', "a.txt.gz": "{}\n"}[name]
    start = "text,n\n" if name == "a.csv.gz" else ""
    path = save(
        tmp_path / name, gzip.compress((start + line.format("word " * 2000) * 500).encode())
    )
    assert "or more when read; at most 1,048,576, or 100 times the file, are allowed" in refusal(
        path
    )


def strings(*values: bytes) -> pa.StringArray:
    """Strings of any bytes, whether they are UTF-8 or not."""
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(values))
    )


@pytest.mark.parametrize("column", ["text", "unused"])
def test_parquet_text_that_is_not_utf_8_is_refused_with_its_row(
    tmp_path: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("tagwright.data.readers.parquet"), "BATCH_ROWS", 2)
    values = {"text": ["a"] * 5, "labels": ["x", "y", "x", "y", "x"]}
    pq.write_table(
        pa.table({**values, column: strings(b"ab", b"cd", b"ef", b"g\xff", b"")}),
        tmp_path / "a.parquet",
    )
    assert refusal(tmp_path / "a.parquet").startswith(
        f"a.parquet, row 4, column '{column}': bytes that are not UTF-8"
    )


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(3)])
def test_bytes_that_are_text_are_read_as_text(tmp_path: Path, kind: pa.DataType) -> None:
    columns = {
        "text": pa.array([b"one", b"two", b"six"], kind),
        "labels": pa.array([b"abc", b"def", b"abc"], kind),
    }
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    data = read_data(path)
    assert data.first["text"].to_pylist() == ["one", "two", "six"]
    assert data.first["labels"].to_pylist() == [["abc"], ["def"], ["abc"]]
    assert texts_of(pa.Table.from_batches(list(stream(path))), path).to_pylist() == [
        "one",
        "two",
        "six",
    ]


def test_bytes_that_are_no_text_are_refused_as_text_and_left_alone_elsewhere(
    tmp_path: Path,
) -> None:
    path, labels = tmp_path / "a.parquet", ["x", "y", "x"]
    pq.write_table(pa.table({"text": [b"a", b"\xff", b"c"], "labels": labels}), path)
    message = r"^a.parquet, column 'text': holds bytes that are not UTF-8, expected text"
    with pytest.raises(DataError, match=message):
        read_data(path)
    with pytest.raises(DataError, match=message):
        texts_of(pa.Table.from_batches(list(stream(path))), path)
    pq.write_table(
        pa.table({"text": ["a", "b", "c"], "picture": [b"a", b"\xff", b"c"], "labels": labels}),
        path,
    )
    assert read_data(path).first["text"].to_pylist() == ["a", "b", "c"]


def test_labels_of_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"text": ["a", "b"], "labels": [b"\xff", b"x"]}), tmp_path / "a.parquet"
    )
    with pytest.raises(
        DataError,
        match="column 'labels': holds bytes that are not UTF-8, expected a string, a list",
    ):
        read_data(tmp_path / "a.parquet")


@pytest.mark.parametrize("line", ['"\n', "\n", "x\n"])
def test_short_lines_without_end_in_a_compressed_file_are_refused(
    tmp_path: Path, limit: Callable[..., None], line: str
) -> None:
    limit(LEAST_GROWTH=1 << 20)
    path = save(tmp_path / "a.csv.gz", gzip.compress(f"a,b\n{line * (4 << 20)}x\n".encode()))
    assert "or more when read; at most 1,048,576, or 500 times the file, are allowed" in refusal(
        path
    )


def test_a_sound_compressed_file_may_unpack_to_more_than_the_least(
    tmp_path: Path, limit: Callable[..., None]
) -> None:
    limit(LEAST_GROWTH=1 << 10)
    rows = "".join(f'"a tent {n * 7919}",camp\n' for n in range(5000))
    path = save(tmp_path / "a.csv.gz", gzip.compress(f"text,labels\n{rows}".encode()))
    assert read_file(path).num_rows == 5000
