"""CSV and TSV come back exactly as Python's csv module wrote them."""

import csv as plain_csv
import gzip
import importlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagwright.data import csv, stream
from tagwright.errors import DataError

NASTY = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12
) | st.sampled_from(
    [
        "",
        '"',
        '""',
        "a,b",
        "line\nline",
        "line\r\nline",
        "\r",
        "007",
        "1e5",
        "null",
        "NaN",
        " x ",
        "\ufeffx",
        "=1+1",
        "ä;ß|\t",
    ]
)


def rows_of(path: Path) -> list[dict[str, str]]:
    return csv(path).to_pylist()


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(rows=st.lists(st.tuples(NASTY, NASTY, NASTY), min_size=1, max_size=7))
def test_what_python_writes_is_read_back_equal(
    tmp_path: Path, suffix: str, delimiter: str, rows: list[tuple[str, ...]]
) -> None:
    path = tmp_path / f"rows{suffix}"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = plain_csv.writer(file, delimiter=delimiter)
        writer.writerows([("first", "text", "labels"), *rows])
    assert [tuple(row.values()) for row in rows_of(path)] == rows


def test_numbers_and_dates_stay_as_written(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,label\n1e5,007\n2024-01-31,1.0\nnull,NA\n")
    assert rows_of(path) == [
        {"text": "1e5", "label": "007"},
        {"text": "2024-01-31", "label": "1.0"},
        {"text": "null", "label": "NA"},
    ]


def test_a_byte_order_mark_is_read_past(tmp_path: Path) -> None:
    assert csv(save(tmp_path / "a.csv", b"\xef\xbb\xbftext,label\na,b\n")).column_names == [
        "text",
        "label",
    ]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_another_delimiter_is_taken_from_the_header_and_said(tmp_path: Path, mark: str) -> None:
    table = csv(save(tmp_path / "a.csv", f"text{mark}label\na, b{mark}c\n"))
    assert table.to_pylist() == [{"text": "a, b", "label": "c"}]
    assert table.schema.metadata[b"found"].decode() == f"columns: separated by {mark!r}"


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text,label\na,b\n"))
    assert rows_of(path) == [{"text": "a", "label": "b"}]


def test_blank_lines_are_skipped_and_empty_cells_kept(tmp_path: Path) -> None:
    assert rows_of(save(tmp_path / "a.csv", "\ntext,label\n\n,x\n\n")) == [
        {"text": "", "label": "x"}
    ]


def test_a_lone_quote_inside_an_unquoted_cell_is_text(tmp_path: Path) -> None:
    assert rows_of(save(tmp_path / "a.csv", 'text,label\n5" screen,x\n'))[0]["text"] == '5" screen'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"id,text,labels\n1,a,b\n2,c,d,e\n",
            r"^a.csv, line 3: 4 columns, expected 3 \(id, text, labels\); is a quote",
        ),
        (b'id,text\n1,"x\ny"\n2\n', r"^a.csv, line 4: 1 column, expected 2"),
        (
            b"id,text\n1,a\n2,caf\xe9\n",
            r"^a.csv, line 3, column 6: byte 0xE9 is not UTF-8; is the file Latin-1",
        ),
        (b"id,t\xe9xt\n1,a\n", r"^a.csv, line 1, column 5: byte 0xE9"),
        (b"id,text\n1,a\n2,b\0c\n", r"^a.csv, line 3, byte 4: a NUL byte"),
        (b"", r"^a.csv: the file is empty"),
        (b"\xef\xbb\xbf\n", r"^a.csv: the file is empty"),
        (b"id,text,id\n1,a,2\n", r"^a.csv, line 1: column 'id' appears twice"),
        (
            b'id,text\n1,a\n2,"b\n3,c\n',
            r"^a.csv, line 3, column 'text': a quote is opened and never closed",
        ),
        (
            b'id,text\n1,5" x\n2,"b\n3,c\n',
            r"^a.csv, line 3, column 'text': a quote is opened and never closed",
        ),
        (b'id,text\n1,"b', r"^a.csv, line 2, column 'text': a quote is opened and never closed"),
        (
            b'id,text\n1,"a\n2,"b"\n3,c\n',
            r"^a.csv, line 2, column 'text': text follows a closing quote",
        ),
        ("id,text\n1,a\n".encode("utf-16"), r"^a.csv: the file is UTF-16; convert it"),
        ("id,text\n1,a\n".encode("utf-16-le") * 20, r"^a.csv: the file is UTF-16"),
    ],
)
def test_a_fault_is_one_error_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        csv(save(tmp_path / "a.csv", content))


@pytest.mark.parametrize("place", [0, 1, 40, 79])
def test_a_row_longer_than_a_block_is_read_and_so_are_those_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(importlib.import_module("tagwright.data.readers.csv"), "STREAM_BLOCK", 1024)
    rows = [(str(n), f'say "{n}",\nplease') for n in range(80)]
    rows[place] = (str(place), 'long,\n"text" ' * 3000)
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        plain_csv.writer(file).writerows([("n", "text"), *rows])
    assert [tuple(row.values()) for row in rows_of(path)] == rows
    assert [tuple(row.values()) for batch in stream(path) for row in batch.to_pylist()] == rows


def test_a_header_with_a_long_name_is_read(tmp_path: Path) -> None:
    name = "x" * 200_000
    assert rows_of(save(tmp_path / "a.csv", f"{name},b\n1,2\n")) == [{name: "1", "b": "2"}]
    wide = "x" * 2_000_000
    assert rows_of(save(tmp_path / "a.csv", f"{wide},b\n1,007\n")) == [{wide: "1", "b": "007"}]
