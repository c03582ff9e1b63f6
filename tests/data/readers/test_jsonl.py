"""JSON lines come back as Python's json module wrote them."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagwright.data import jsonl
from tagwright.errors import DataError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["2024-01-31", "1", "\u2028", '"\\']
)


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    rows=st.lists(
        st.fixed_dictionaries({"text": TEXT, "labels": st.none() | st.lists(TEXT)}),
        min_size=1,
        max_size=7,
    )
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_what_python_writes_is_read_back_equal(
    tmp_path: Path, ascii_only: bool, rows: list[dict[str, object]]
) -> None:
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    path = save(tmp_path / "rows.jsonl", "\n".join(lines))
    assert jsonl(path).to_pylist() == rows


def test_strings_that_look_like_dates_stay_strings(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", '{"text": "2024-01-31", "labels": ["2024-01-31"]}\n')
    assert jsonl(path).to_pylist() == [{"text": "2024-01-31", "labels": ["2024-01-31"]}]


def test_a_missing_key_is_null_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"a": "x"}\n\n{"b": 1}\n')
    assert jsonl(path).to_pylist() == [{"a": "x", "b": None}, {"a": None, "b": 1}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": "x"}\n{"a": \n', r"^a.jsonl, line 2, column 7: broken JSON"),
        (b'{"a": "x"}\n\n"b"\n', r"^a.jsonl, line 3: a string, expected an object such as"),
        (b'null\n{"a": "x"}\n', r"^a.jsonl, line 1: null, expected an object"),
        (b'{"a": "x"}\n null\n', r"^a.jsonl, line 2: null, expected an object"),
        (b'{\n "a": "x"\n}\n', r"^a.jsonl, line 1, column 2: broken JSON"),
        (b'{"a": "x"}\n[1]\n', r"^a.jsonl, line 2: a list, expected an object"),
        (b'[{"a": "x"}]\n', r"^a.jsonl, line 1: a list, expected one object a line; convert it"),
        (b'{"a": "x"}\n{"a": 1}\n', r"^a.jsonl, line 2: 'a' is a number, but a string in line 1"),
        (
            b'{"a": ["x"]}\n{"a": [1]}\n',
            r"^a.jsonl, line 2: 'a\[\]' is a number, but a string in line 1",
        ),
        (b'{"a": 1, "b": 2, "a": 3}\n', r"^a.jsonl, line 1: key 'a' appears twice"),
        (
            b'{"n": ' + b"9" * 5000 + b'}\n{"n": "x"}\n',
            r"^a.jsonl, line 2: 'n' is a string, but a number in line 1",
        ),
        (b'{"a": "x"}\n{"a": "caf\xe9"}\n', r"^a.jsonl, line 2, column 11: byte 0xE9 is not UTF-8"),
        (b'{"\xe9": "x"}\n', r"^a.jsonl, line 1, column 3: byte 0xE9 is not UTF-8"),
        (b'{"a": "x\0"}\n', r"^a.jsonl, line 1, byte 9: a NUL byte"),
        (b'{"a": "x"}\n{"a": "\\ud83d"}\n', r"^a.jsonl, line 2: half of a surrogate pair"),
        (b"\n", r"^a.jsonl: the file is empty"),
    ],
)
def test_a_fault_is_one_error_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        jsonl(save(tmp_path / "a.jsonl", content))
