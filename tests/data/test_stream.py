"""Streaming gives the rows of the whole file, in order, with every column, in pieces."""

import csv as plain_csv
import importlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tagwright.data import stream
from tagwright.data.files.limits import BATCH_BYTES
from tagwright.data.readers.by_suffix import read_batches
from tagwright.errors import DataError

ROWS = [
    {"n": str(i), "text": f'say "{i}",\nplease' if i % 7 else "", "extra": "é" * (i % 3)}
    for i in range(1271)
]


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def save_rows(path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif path.suffix == ".jsonl":
        save(path, "\n".join(json.dumps(row) for row in ROWS))
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = plain_csv.DictWriter(
                file, list(ROWS[0]), delimiter="," if path.suffix == ".csv" else "\t"
            )
            writer.writeheader()
            writer.writerows(ROWS)
    return path


def small_blocks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(importlib.import_module("tagwright.data.readers.csv"), "STREAM_BLOCK", size)
    monkeypatch.setattr(importlib.import_module("tagwright.data.readers.jsonl"), "JSON_BLOCK", size)


@pytest.mark.parametrize("block", [4096, 1 << 22])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_all_rows_come_in_order_with_all_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, block: int
) -> None:
    small_blocks(monkeypatch, block)
    batches = list(stream(save_rows(tmp_path / f"a{suffix}"), batch_rows=101))
    assert max(batch.num_rows for batch in batches) <= 101
    assert pa.Table.from_batches(batches).to_pylist() == ROWS


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    small_blocks(monkeypatch, 1 << 16)
    table = pa.table({"text": [f"{i} " + "x" * 500 for i in range(40_000)]})  # 20 MB
    path = tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1000, compression="none", use_dictionary=False)
    else:
        lines = [
            f'{{"text": "{cell}"}}' if suffix == ".jsonl" else cell
            for cell in table["text"].to_pylist()
        ]
        save(path, "\n".join(["text", *lines] if suffix == ".csv" else lines))
    del table
    before = pa.total_allocated_bytes()
    assert max(pa.total_allocated_bytes() - before for _ in stream(path)) < 10e6


def test_a_json_key_or_type_that_comes_late_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch, 256)
    rows = [{"n": 1, "text": None} for _ in range(40)] + [
        {"n": 0.5, "text": "x", "late": ["2024-01-31"]}
    ]
    batches = list(stream(save(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))))
    assert len(batches) > 2
    assert len({batch.schema for batch in batches}) == 1
    assert pa.Table.from_batches(batches).to_pylist() == [{"late": None} | row for row in rows]


@pytest.mark.parametrize("late", [["x"], "x", {"a": "x"}, 1.5, True])
def test_a_json_column_without_a_value_so_far_takes_any_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: object
) -> None:
    small_blocks(monkeypatch, 256)
    rows = [{"text": f"some words {n}", "more": None} for n in range(40)] + [
        {"text": "x", "more": late}
    ]
    path = save(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert pa.Table.from_batches(stream(path)).to_pylist() == rows


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".txt"])
def test_batches_are_small_where_rows_are_large(tmp_path: Path, suffix: str) -> None:
    texts = ["word " * 2000 if n % 3 else "short" for n in range(120)]
    path = tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"text": [f"{n} {text}" for n, text in enumerate(texts)]}), path)
    else:
        lines = [json.dumps({"text": text}) if suffix == ".jsonl" else text for text in texts]
        save(path, "\n".join(["text", *lines] if suffix == ".csv" else lines))
    batches = list(stream(path, batch_bytes=50_000))
    assert max(batch.nbytes for batch in batches) <= 50_000
    assert sum(batch.num_rows for batch in batches) == 120


def test_parquet_pages_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    texts = [f"{n} " + "word " * 20_000 for n in range(120)]  # 100 KB each
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    batches = list(read_batches(tmp_path / "a.parquet"))
    assert max(batch.nbytes for batch in batches) < 2 * BATCH_BYTES
    assert pa.Table.from_batches(batches)["text"].to_pylist() == texts


@pytest.mark.parametrize("skip", [0, 1, 7, 30])
def test_rows_behind_those_passed_are_cut_as_before(tmp_path: Path, skip: int) -> None:
    path = save(
        tmp_path / "a.csv", "text\n" + "".join("x" * (n * 7 % 50) + "y\n" for n in range(60))
    )
    whole = list(stream(path, batch_bytes=200))
    starts = [sum(batch.num_rows for batch in whole[:n]) for n in range(len(whole))]
    first = next(n for n, start in enumerate(starts) if start >= skip)
    rest = list(stream(path, batch_bytes=200, skip=starts[first]))
    assert [batch.to_pydict() for batch in rest] == [batch.to_pydict() for batch in whole[first:]]


def test_fasttext_and_conll_stream_too(tmp_path: Path) -> None:
    lines = list(stream(save(tmp_path / "a.txt", "one\n\nthree\n"), batch_rows=2))
    assert [batch.to_pydict() for batch in lines] == [{"text": ["one", ""]}, {"text": ["three"]}]
    assert next(stream(save(tmp_path / "a.conll", "EU B-ORG\n")))["text"].to_pylist() == ["EU"]


def test_a_header_without_rows_gives_no_batch(tmp_path: Path) -> None:
    assert list(stream(save(tmp_path / "a.csv", "text,label\n"))) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text,n\na,1\nb\n", r"^a.csv, line 3: 1 column, expected 2"),
        ("a.csv", b"text,n\na,1\nb\0,2\n", r"^a.csv, line 3, byte 2: a NUL byte"),
        ("a.csv", b'n,text\n1,a\n2,"b\n3,c\n', r"^a.csv, line 3, column 'text': a quote is opened"),
        (
            "a.csv",
            b'n,text\n1,"b',
            r"^a.csv, line 2, column 'text': a quote is opened and never closed",
        ),
        (
            "a.csv",
            b'n,text\n1,"a\n2,"b"\n3,c\n',
            r"^a.csv, line 2, column 'text': text follows a closing quote",
        ),
        ("a.csv", b"text\n\xff\n", r"^a.csv, line 2, column 1: byte 0xFF"),
        ("a.csv", b"", r"^a.csv: the file is empty"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\xff"}\n', r"^a.jsonl, line 2, column 8: byte 0xFF"),
        (
            "a.jsonl",
            b'{"a": 1}\n{"a": "x"}\n',
            r"^a.jsonl, line 2: 'a' is a string, but a number in line 1",
        ),
        ("a.jsonl", b'{"a": "x\0"}\n', r"^a.jsonl, line 1, byte 9: a NUL byte"),
        ("a.parquet", b"nonsense", r"^a.parquet: not a sound Parquet file"),
    ],
)
def test_a_fault_is_one_error_with_its_place(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        list(stream(save(tmp_path / name, content)))


def test_a_missing_file_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    save(tmp_path / "pages.csv", "text\na\n")
    with pytest.raises(DataError, match=r"no such file.*did you mean 'pages.csv'"):
        list(stream(tmp_path / "page.csv"))
