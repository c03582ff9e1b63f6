"""Given word vectors: GloVe or word2vec text, or NAME.npy with its words in NAME.words or NAME.txt,
one a line.
"""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from tagwright.arrays import Float, Floats
from tagwright.errors import DataError

_RESERVED = 2  # padding and unknown are no words


class Vectors(NamedTuple):
    """A table for `Lookup` and how many of its rows come from the file."""

    table: Floats  # float32 (size, width)
    found: int


def read_vectors(path: Path, vocabulary: dict[str, int], *, seed: int) -> Vectors:
    """Vectors of the vocabulary's words, read as a stream.

    A word that the file lacks is drawn from N(0, s), s the deviation of those found; padding is
    zero. Where the file repeats a word, the first counts.
    """
    rows: dict[int, Floats] = {}
    for word, vector in (
        _from_array(path, vocabulary) if path.suffix == ".npy" else _from_text(path, vocabulary)
    ):
        rows.setdefault(vocabulary[word], vector)
    if not rows:
        raise DataError(
            f"{path} has none of the {len(vocabulary)} words; check its language and lower case"
        )
    known = np.stack(list(rows.values())).astype(np.float32)
    random = np.random.default_rng(seed)
    table = random.normal(0, known.std(), (len(vocabulary), known.shape[1])).astype(np.float32)
    table[list(rows)] = known
    table[0] = 0
    return Vectors(table, len(rows))


def _from_text(path: Path, vocabulary: dict[str, int]) -> Iterator[tuple[str, Floats]]:
    """Words of the vocabulary and their vectors; each line is checked, only those wanted are
    parsed.
    """
    width = 0
    with _open(path) as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.split()
            if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
                continue  # the header of word2vec: words, width
            width = width or len(fields) - 1
            if width < 1 or len(fields) <= width:
                raise DataError(
                    f"{path}, line {number}: expected a word and {width or 'some'} numbers, got"
                    f" {line[:60]!r}"
                )
            word = " ".join(fields[:-width])  # some words of the large GloVe files have spaces
            if _wanted(word := _composed(word), vocabulary):
                yield word, _numbers(fields[-width:], f"{path}, line {number}")


def _numbers(fields: list[str] | Floats, place: str) -> Floats:
    try:
        vector = np.array(fields, np.float32)
    except ValueError as error:
        raise DataError(f"{place}: expected numbers after the word: {error}") from error
    if not np.isfinite(vector).all():
        raise DataError(f"{place}: expected finite numbers after the word, got NaN or infinity")
    return vector


def _from_array(path: Path, vocabulary: dict[str, int]) -> Iterator[tuple[str, Floats]]:
    """Words of the vocabulary and their rows of the array."""
    try:
        # tells shape and place of the rows; none is read through the map, for the system would end
        # the process if the file became shorter
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} must be a numpy array of numbers: {error}") from error
    beside = next(
        (p for p in (path.with_suffix(".words"), path.with_suffix(".txt")) if p.exists()), None
    )
    if beside is None:
        raise DataError(
            f"{path} needs its words beside it, one a line, in {path.stem}.words or {path.stem}.txt"
        )
    with _open(beside) as lines:
        words = [_composed(line.rstrip("\r\n")) for line in lines]
    if array.ndim != 2 or len(array) != len(words):
        raise DataError(
            f"{path} must have a row for each of the {len(words)} words of {beside.name}, got"
            f" {array.shape}"
        )
    for row, read in _rows(path, array, [_wanted(word, vocabulary) for word in words]):
        yield words[row], _numbers(read, f"{path}, row {row + 1}")


def _rows(
    path: Path, array: np.memmap[tuple[int, ...], np.dtype[Float]], wanted: list[bool]
) -> Iterator[tuple[int, Floats]]:
    """The wanted rows of the array, each read from the file."""
    if not array.flags.c_contiguous:
        array = np.load(path, allow_pickle=False)
        yield from ((row, array[row]) for row in np.flatnonzero(wanted).tolist())
        return
    size = array.dtype.itemsize * array.shape[1]
    with path.open("rb") as file:
        for row in np.flatnonzero(wanted).tolist():
            file.seek(array.offset + row * size)
            read = file.read(size)
            if len(read) < size:
                raise DataError(f"{path}, row {row + 1}: the file ends here; save it anew")
            yield row, np.frombuffer(read, array.dtype)


def _open(path: Path) -> TextIO:
    try:
        # a word that is no UTF-8 cannot be in the vocabulary; the rest of the file is still good
        return path.open(encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise DataError(f"cannot read the vectors {path}: {error.strerror}") from error


def _composed(word: str) -> str:
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def _wanted(word: str, vocabulary: dict[str, int]) -> bool:
    return vocabulary.get(word, 0) >= _RESERVED
