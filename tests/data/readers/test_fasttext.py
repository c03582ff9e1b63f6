"""fastText lines, against a plain loop over words."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagwright.data import fasttext
from tagwright.errors import DataError

WORD = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5)


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    rows=st.lists(
        st.tuples(st.lists(WORD, min_size=1, max_size=3), st.lists(WORD, max_size=4)),
        min_size=1,
        max_size=5,
    )
)
def test_labels_and_text_come_apart(
    tmp_path: Path, rows: list[tuple[list[str], list[str]]]
) -> None:
    lines = [" ".join([*(f"__label__{name}" for name in labels), *words]) for labels, words in rows]
    table = fasttext(save(tmp_path / "a.txt", "\n".join(lines) + "\n"))
    assert table["labels"].to_pylist() == [labels for labels, _ in rows]
    assert table["text"].to_pylist() == [" ".join(words) for _, words in rows]


def test_a_line_without_a_label_is_unlabelled(tmp_path: Path) -> None:
    table = fasttext(
        save(
            tmp_path / "a.txt",
            "\ufeff__label__a x\r\njust text\n\n__label__b __label__a y __label__c",
        )
    )
    assert table["labels"].to_pylist() == [["a"], None, None, ["b", "a"]]
    assert table["text"].to_pylist() == ["x", "just text", "", "y __label__c"]


def test_lines_without_any_label_are_texts_alone(tmp_path: Path) -> None:
    assert fasttext(save(tmp_path / "a.txt", "one\ntwo\n")).to_pylist() == [
        {"text": "one"},
        {"text": "two"},
    ]


def test_broken_utf8_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^a.txt, line 2, column 14: byte 0xE9 is not UTF-8"):
        fasttext(save(tmp_path / "a.txt", b"__label__a x\n__label__b ca\xe9\n"))
