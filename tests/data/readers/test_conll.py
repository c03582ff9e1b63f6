"""CoNLL files: sentences, and tokens that lie in their text where their starts say."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagwright.data import conll, read_data
from tagwright.errors import DataError

TOKEN = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5
) | st.sampled_from(["点", "卡", "中国", "#", '"', "é", "😀"])


def slow(content: str) -> list[list[tuple[str, str]]]:
    sentences: list[list[tuple[str, str]]] = [[]]
    for line in content.split("\n"):
        if not line.strip() or line.startswith("-DOCSTART-"):
            sentences.append([])
        else:
            sentences[-1].append((line.split()[0], line.split()[-1]))
    return [sentence for sentence in sentences if sentence]


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("gap", ["\t", " ", " NN B-NP ", "\tNN\t"])
@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(sentences=st.lists(st.lists(TOKEN, min_size=1, max_size=5), min_size=1, max_size=5))
def test_sentences_equal_a_plain_loop_and_starts_point_at_tokens(
    tmp_path: Path, gap: str, sentences: list[list[str]]
) -> None:
    content = "-DOCSTART- -X- O\n\n" + "\n\n\n".join(
        "\n".join(f"{token}{gap}O" for token in line) for line in sentences
    )
    table = conll(save(tmp_path / "a.conll", content))
    pairs = [list(zip(row["tokens"], row["tags"])) for row in table.to_pylist()]
    assert pairs == slow(content)
    for row in table.to_pylist():
        for token, start in zip(row["tokens"], row["starts"]):
            assert row["text"][start : start + len(token)] == token


def test_words_are_joined_by_blanks_and_single_cjk_characters_by_nothing(tmp_path: Path) -> None:
    content = "New B-L\nYork I-L\n\na O\nb O\n\n点 O\n卡 O\n1 O\n0 O\n\n中国 B-L\n人 O\n"
    table = conll(save(tmp_path / "a.conll", content))
    assert table["text"].to_pylist() == ["New York", "a b", "点卡10", "中国 人"]
    assert table["starts"].to_pylist() == [[0, 4], [0, 2], [0, 1, 2, 3], [0, 3]]


def test_a_tab_keeps_blanks_inside_a_token(tmp_path: Path) -> None:
    assert conll(save(tmp_path / "a.conll", "10 000\tNUM\r\nx\tO\r\n"))["tokens"].to_pylist() == [
        ["10 000", "x"]
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"EU B-ORG\n\nrejects\n",
            r"^a.conll, line 3: 'rejects' is no token with its tag; expected two columns",
        ),
        (b"EU\t\n", r"^a.conll, line 1: 'EU\\t' is no token with its tag"),
        (b"EU B-ORG\ncaf\xe9 O\n", r"^a.conll, line 2, column 4: byte 0xE9 is not UTF-8"),
        (b"EU B-ORG\na\0 O\n", r"^a.conll, line 2, byte 2: a NUL byte"),
        (b"-DOCSTART- O\n\n", r"^a.conll: no sentence"),
        (b"", r"^a.conll: the file is empty"),
    ],
)
def test_a_fault_is_one_error_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        conll(save(tmp_path / "a.conll", content))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_knows_the_line_of_its_first_token(tmp_path: Path, end: str) -> None:
    content = end.join(
        ["-DOCSTART- O", "", "", "a O", "b O", " ", "-DOCSTART- O", "c O", "", "d O"]
    )
    assert conll(save(tmp_path / "a.conll", content))["line"].to_pylist() == [4, 8, 10]


def test_strict_names_the_line_of_a_broken_tag_in_its_file(tmp_path: Path) -> None:
    save(tmp_path / "train.conll", "a O\nb B-X\n\n\nc O\nd I-X\n")
    save(tmp_path / "dev.conll", "-DOCSTART- O\n\na I-X\nb I-X\nc O\n")
    with pytest.raises(DataError, match=r": train.conll, line 6; dev.conll, line 3; --strict"):
        read_data(tmp_path, strict=True)
    assert read_data(tmp_path).tables["dev"]["tags"].to_pylist() == [["B-X", "I-X", "O"]]
