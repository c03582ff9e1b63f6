"""A file, a folder or a name becomes Data."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tagwright.data import Data, read_data
from tagwright.errors import DataError

ROWS = "text,label\na,x\nb,y\nc,x\n"
SETS = Path(
    os.environ.get("TAGWRIGHT_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data"
)
needs_sets = pytest.mark.skipif(
    not SETS.is_dir(), reason="no folder of real data sets: set TAGWRIGHT_DATA"
)


def save(path: Path, content: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def sizes(data: Data) -> dict[str, int]:
    return {name: table.num_rows for name, table in data.tables.items()}


def test_a_file_is_one_table(tmp_path: Path) -> None:
    data = read_data(save(tmp_path / "a.csv", ROWS))
    assert sizes(data) == {"all": 3}
    assert data.first["labels"].to_pylist() == [["x"], ["y"], ["x"]]
    assert data.source == str(tmp_path / "a.csv")
    assert "task: one label a text" in data.found


def test_every_reader_finds_the_same_labelled_text(tmp_path: Path) -> None:
    files = {
        "a.csv": ROWS,
        "a.tsv": ROWS.replace(",", "\t"),
        "b.csv": ROWS.replace(",", ";"),
        "a.jsonl": (
            '{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n{"text": "c", "label":'
            ' "x"}\n'
        ),
        "a.txt": "__label__x a\n__label__y b\n__label__x c\n",
    }
    tables = [read_data(save(tmp_path / name, content)).first for name, content in files.items()]
    pq.write_table(
        pa.table({"text": ["a", "b", "c"], "label": ["x", "y", "x"]}), tmp_path / "a.parquet"
    )
    tables.append(read_data(tmp_path / "a.parquet").first)
    for table in tables:
        assert table.select(["text", "labels"]).to_pylist() == tables[0].to_pylist()


def test_a_sniffed_delimiter_is_said(tmp_path: Path) -> None:
    assert (
        read_data(save(tmp_path / "a.csv", ROWS.replace(",", ";"))).found[0]
        == "columns: separated by ';'"
    )


@pytest.mark.parametrize("dev", ["dev", "valid", "validation", "val"])
def test_a_folder_gives_its_splits(tmp_path: Path, dev: str) -> None:
    save(tmp_path / "train.csv", ROWS)
    save(tmp_path / f"{dev}.jsonl", '{"text": "d", "label": "y"}\n')
    save(tmp_path / "test.csv", "label,text\nz,e\n")
    save(tmp_path / "notes.md", "not data")
    data = read_data(tmp_path)
    assert sizes(data) == {"train": 3, "dev": 1, "test": 1}
    assert data.tables["test"].to_pylist() == [{"text": "e", "labels": ["z"]}]


def test_every_file_of_a_split_is_read(tmp_path: Path) -> None:
    save(tmp_path / "train-00000-of-00002.csv", ROWS)
    save(tmp_path / "train-00001-of-00002.csv", "text,label\nd,y\n")
    assert read_data(tmp_path).first["text"].to_pylist() == ["a", "b", "c", "d"]


def test_a_split_column_gives_the_splits(tmp_path: Path) -> None:
    data = read_data(
        save(tmp_path / "a.csv", "text,label,split\na,x,train\nb,y,Valid\nc,x,train\nd,y,test\n")
    )
    assert sizes(data) == {"train": 2, "dev": 1, "test": 1}
    assert data.tables["dev"]["text"].to_pylist() == ["b"]


def test_a_split_column_with_other_words_is_said_and_left(tmp_path: Path) -> None:
    data = read_data(save(tmp_path / "a.csv", "text,label,split\na,x,train\nb,y,fold2\n"))
    assert sizes(data) == {"all": 2}
    assert data.found[0].startswith("splits: none")


def test_conll_makes_a_token_task(tmp_path: Path) -> None:
    data = read_data(save(tmp_path / "a.conll", "EU B-ORG\nsays O\n\nno O\n"))
    assert data.task == "tokens"
    assert data.first["starts"].to_pylist() == [[0, 3], [0]]
    assert data.first["labels"].null_count == 2


def test_a_name_is_looked_up_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "pages.csv", ROWS)
    save(tmp_path / "news" / "train.csv", ROWS)
    monkeypatch.setenv("TAGWRIGHT_DATA", str(tmp_path))
    assert sizes(read_data("pages")) == {"all": 3}
    assert sizes(read_data("news")) == {"train": 3}


def test_options_reach_the_columns(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "p,q,r\nsome text,u;v,s\nmore text,u,t\n")
    data = read_data(path, text="p,r", labels="q", task="many", separator=";")
    assert data.first.to_pylist()[0] == {"text": "some text\ns", "labels": ["u", "v"]}


@pytest.mark.parametrize(
    ("files", "source", "message"),
    [
        ({"shop.csv": ROWS}, "shp.csv", r"shp.csv: no such file.*did you mean 'shop.csv'"),
        (
            {"a.xlsx": "x"},
            "a.xlsx",
            r"^a.xlsx: unknown suffix '.xlsx'.*\.conll.*\.csv.*\.jsonl.*\.parquet.*\.txt",
        ),
        (
            {"a.csv": "text,label\n"},
            "a.csv",
            r"^a.csv, line 1: a header \('text', 'label'\) but no rows",
        ),
        ({"dev.csv": ROWS}, ".", r"no train file among 'dev.csv'"),
        (
            {"train.csv": ROWS, "dev.csv": "text,tag\na,b\n"},
            ".",
            r"^dev.csv: columns 'label', 'tag' are in only one of",
        ),
        (
            {"train.csv": ROWS, "train.jsonl": "{}"},
            ".",
            r"train comes as .csv and as .jsonl; keep one",
        ),
        (
            {"train.csv": ROWS, "dev.csv": "text,label\n1\n"},
            ".",
            r"^dev.csv, line 2: 1 column, expected 2 \(text, label\)",
        ),
        (
            {"train.jsonl": '{"t": 1}', "dev.jsonl": '{"t": "x"}'},
            ".",
            r"a column has different types in the files",
        ),
    ],
)
def test_a_wrong_source_is_one_clear_error(
    tmp_path: Path, files: dict[str, str], source: str, message: str
) -> None:
    for name, content in files.items():
        save(tmp_path / name, content)
    with pytest.raises(DataError, match=message):
        read_data(tmp_path / source)


def test_a_row_in_a_folder_is_named_by_its_file(tmp_path: Path) -> None:
    save(tmp_path / "train.csv", ROWS)
    save(tmp_path / "dev.csv", "text,label\nd,x\ne,x|y\n")
    with pytest.raises(DataError, match=r"^dev.csv, row 2: 2 labels"):
        read_data(tmp_path, task="one", separator="|")


def test_the_package_binds_the_readers_functions() -> None:
    for name in ("csv", "jsonl", "parquet", "conll", "fasttext"):
        module = importlib.import_module(f"tagwright.data.readers.{name}")
        assert getattr(importlib.import_module("tagwright.data"), name) is getattr(module, name)


def test_reading_a_file_loads_neither_torch_nor_scipy(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", ROWS)
    code = "import sys; from tagwright.data import read_data; read_data(sys.argv[1])"
    code += "; sys.exit(bool({'torch', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0


@needs_sets
@pytest.mark.parametrize(
    ("name", "task", "rows", "labels"),
    [
        ("trec_fine", "one", {"train": 5452, "test": 500}, 50),
        ("goemotions", "many", {"train": 43410, "dev": 5426, "test": 5427}, 28),
        ("debtags", "many", {"train": 23473, "dev": 2983, "test": 2958}, 598),
        ("conll2003", "tokens", {"train": 14041, "dev": 3250, "test": 3453}, 9),
        ("ecommerce_zh", "tokens", {"train": 6000, "dev": 495, "test": 426}, 9),
    ],
)
def test_real_sets_are_read_as_their_notes_say(
    name: str, task: str, rows: dict[str, int], labels: int
) -> None:
    data = read_data(SETS / name)
    assert (data.task, sizes(data)) == (task, rows)
    assert any(
        sentence.endswith((f" {labels} labels", f" {labels} tags")) for sentence in data.found
    )


@needs_sets
@pytest.mark.parametrize("name", ["conll2003", "ecommerce_zh"])
def test_starts_point_at_the_tokens_of_real_sets(name: str) -> None:
    for row in read_data(SETS / name).tables["test"].to_pylist():
        found = [
            row["text"][start : start + len(token)]
            for token, start in zip(row["tokens"], row["starts"])
        ]
        assert found == row["tokens"]
