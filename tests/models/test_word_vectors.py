import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tagwright.errors import DataError
from tagwright.models.word_vectors import read_vectors

VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "fig": 2, "pear": 3, "new york": 4, "plum": 5, "café": 6}
LINES = [
    "fig 1 2 3",
    "tree 9 9 9",
    "pear -1 0.5 1e-2",
    "new york 4 5 6",
    "cafe\u0301 7 8 9",
    "fig 0 0 0",
]


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("header", [[], ["6 3"]])
def test_text_vectors_are_joined_by_word(tmp_path: Path, header: list[str]) -> None:
    table, found = read_vectors(written(tmp_path, header + LINES), VOCABULARY, seed=0)
    expected = np.array([[1, 2, 3], [-1, 0.5, 0.01], [4, 5, 6], [7, 8, 9]], np.float32)
    np.testing.assert_array_equal(table[[2, 3, 4, 6]], expected)
    assert table[0].tolist() == [0, 0, 0]
    assert (found, table.shape, table.dtype) == (4, (7, 3), np.float32)


@pytest.mark.parametrize("suffix", [".words", ".txt"])
def test_array_vectors_are_joined_by_word(tmp_path: Path, suffix: str) -> None:
    np.save(tmp_path / "v.npy", np.array([[1.0, 2], [3, 4], [5, 6]]))
    (tmp_path / f"v{suffix}").write_text("tree\nplum\nfig\n", encoding="utf-8")
    table, found = read_vectors(tmp_path / "v.npy", VOCABULARY, seed=0)
    assert table[[2, 5]].tolist() == [[5, 6], [3, 4]]
    assert found == 2


def test_missing_words_are_drawn_with_the_deviation_of_the_found(tmp_path: Path) -> None:
    path = written(tmp_path, ["fig 5 -5", "pear -5 5"])
    vocabulary = VOCABULARY | {f"word{i}": 7 + i for i in range(4000)}
    table, _ = read_vectors(path, vocabulary, seed=3)
    assert table[7:].std() == pytest.approx(5, rel=0.05)
    np.testing.assert_array_equal(table, read_vectors(path, vocabulary, seed=3).table)
    assert (table[7:] != read_vectors(path, vocabulary, seed=4).table[7:]).any()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pear 1 2", "line 3: expected a word and 3 numbers"),
        ("pear 1 x 3", "line 3: expected numbers"),
        ("pear 1 nan 3", "line 3: expected finite"),
        ("", "line 3: expected a word"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError, match=f"vectors.txt, {message}"):
        read_vectors(written(tmp_path, [*LINES[:2], line, *LINES[3:]]), VOCABULARY, seed=0)


def test_file_without_any_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of the 7 words"):
        read_vectors(written(tmp_path, ["tree 1 2"]), VOCABULARY, seed=0)


def test_array_without_words_beside_it_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros((2, 2)))
    with pytest.raises(DataError, match=r"v\.words or v\.txt"):
        read_vectors(tmp_path / "v.npy", VOCABULARY, seed=0)


def test_array_and_words_of_different_length_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros((2, 2)))
    (tmp_path / "v.words").write_text("fig\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"each of the 1 words of v.words, got \(2, 2\)"):
        read_vectors(tmp_path / "v.npy", VOCABULARY, seed=0)


def test_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read the vectors"):
        read_vectors(tmp_path / "no.txt", VOCABULARY, seed=0)


def test_an_array_that_becomes_shorter_while_it_is_read_is_refused_with_its_row(tmp_path: Path):
    """A memory map would end the process with SIGBUS."""
    np.save(tmp_path / "v.npy", np.ones((50_000, 10)))
    (tmp_path / "v.words").write_text("x\n" * 49_999 + "fig\n", encoding="utf-8")
    code = (
        "import os, sys; from pathlib import Path; from tagwright.models import word_vectors as v;"
        "start = v._open; v._open = lambda path: os.truncate(sys.argv[1], 1000) or start(path);"
        "v.read_vectors(Path(sys.argv[1]), {'[PAD]': 0, '[UNK]': 1, 'fig': 2}, seed=0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "v.npy"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "v.npy, row 50000: the file ends here; save it anew" in ran.stderr


def test_an_array_of_columns_is_read_too(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.asfortranarray([[1.0, 2], [3, 4], [5, 6]]))
    (tmp_path / "v.words").write_text("tree\nplum\nfig\n", encoding="utf-8")
    table, _ = read_vectors(tmp_path / "v.npy", VOCABULARY, seed=0)
    assert table[[2, 5]].tolist() == [[5, 6], [3, 4]]
