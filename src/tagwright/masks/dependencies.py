"""Words that labels depend on (MaskLoss, appendix A.3): a dictionary, as a file to edit.

A label depends on a word where a trained model's probability of it falls by more than a threshold
when the word is taken out of a text. The labels of a text's words are its group: beside a gold one,
the others are excused.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Floats
from tagwright.errors import DataError, SettingsError, nearest, some, unknown
from tagwright.labels.group_files import read_text
from tagwright.labels.space import LabelSpace
from tagwright.storage.files import replaced
from tagwright.tokenizers.words_of import WordTokens

COLUMNS = ("word", "label", "texts", "drop")
SELECT = ("correct", "incorrect", "all")  # texts that a model is asked about, by what it predicts


class Element(NamedTuple):
    """A word and a label that depends on it; in how many texts, and the largest fall of its
    probability there.
    """

    word: str
    label: str
    texts: int = 0  # not known
    drop: float = 0.0


@dataclass(frozen=True)
class Elements:
    """Words and the labels that depend on them.

    >>> found = Element("city", "LOC:city", 7, 0.9), Element("city", "LOC:other", 2, 0.6)
    >>> elements = Elements(found)
    >>> elements.labels_of("city"), elements.labels_of("hat")
    (('LOC:city', 'LOC:other'), ())
    """

    rows: tuple[Element, ...]
    source: str = "elements"  # where they come from, for messages

    @cached_property
    def by_word(self) -> dict[str, tuple[str, ...]]:
        """The labels of every word, in the order of the rows."""
        found: dict[str, dict[str, None]] = {}
        for row in self.rows:
            found.setdefault(row.word, {})[row.label] = None
        return {word: tuple(labels) for word, labels in found.items()}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All labels, alphabetical."""
        return tuple(sorted({row.label for row in self.rows}))

    def labels_of(self, word: str) -> tuple[str, ...]:
        """The labels that depend on a word; of an unknown word none."""
        return self.by_word.get(word, ())

    def strangers(self, space: LabelSpace) -> tuple[str, ...]:
        """Labels that the space does not have: perhaps misspelt."""
        return tuple(label for label in self.labels if label not in space.index)

    def __iter__(self) -> Iterator[Element]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def dependent(full: Floats, without: Floats, *, threshold: float) -> Bools:
    """Which labels depend on which word, bool (W, L): probabilities of a text (L,), and without
    each word (W, L).

    >>> dependent(np.array([0.9, 0.6]), np.array([[0.2, 0.6], [0.9, 0.0]]), threshold=0.5)
    array([[ True, False],
           [False,  True]])
    """
    check_threshold(threshold)
    return full > without + threshold


def check_select(select: str, name: str = "choice of texts (select)") -> None:
    """Refuse a choice of texts that there is not; `name` is what a person calls it."""
    if select not in SELECT:
        raise SettingsError(unknown(name, select, SELECT))


def check_threshold(threshold: float) -> None:
    """A fall is more than nothing and less than everything."""
    if not 0 <= threshold < 1:
        raise SettingsError(
            f"the threshold of elements must be at least 0 and below 1, got {threshold}"
        )


def excused(
    words: WordTokens, elements: Elements, space: LabelSpace, target: csr_array
) -> csr_array:
    """Labels that are not pushed down, sparse bool (n, L), for texts with the gold labels `target`
    (n, L).

    They are those that depend on a word of the text and are not gold, if a gold one depends on a
    word of it, too. Elements with none of the space's labels are an error; with some unknown ones,
    `said` has a sentence.
    """
    _check_labels(elements, space)
    gold = (target > 0).astype(np.int64)
    union = ((_words_in_texts(words) @ _labels_of_words(words.words, elements, space)) > 0).astype(
        np.int64
    )
    both = union.multiply(gold).tocsr()
    with_gold = np.asarray(both.sum(axis=1)).ravel() > 0
    others = (union - both).multiply(with_gold[:, None]).tocsr()
    others.eliminate_zeros()
    others.sort_indices()
    return csr_array(others.astype(bool))


def said(words: WordTokens, elements: Elements, space: LabelSpace) -> tuple[str, ...]:
    """What a person should know of the elements beside these texts, a sentence each."""
    strangers, known = elements.strangers(space), set(words.words)
    absent = [word for word in elements.by_word if word not in known]
    left_out = f"labels of {elements.source} that are not in train, left out: {some(strangers)}"
    unseen = f"words of {elements.source} that no text has (as the tokenizer writes them): "
    sentences = {left_out: strangers, unseen + some(absent): absent}
    return tuple(sentence for sentence, about in sentences.items() if about)


def read_elements(path: Path) -> Elements:
    """Elements from a CSV file with the columns word and label; texts and drop are there for the
    reader.
    """
    reader = csv.DictReader(io.StringIO(read_text(path, "elements"), newline=""))
    try:
        if not {"word", "label"} <= set(reader.fieldnames or ()):
            found = shorten(", ".join(reader.fieldnames or ["an empty file"]), 80, placeholder=" …")
            raise DataError(
                f"{path}, line 1: the header must name word and label, found {found}; add them"
            )
        rows = tuple(_element(path, reader.line_num, row) for row in reader)
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not CSV ({error})") from None
    if not rows:
        raise DataError(f"{path}: no elements below the header; lines look like city,LOC:city")
    return Elements(rows, str(path))


def write_elements(path: Path, elements: Elements) -> None:
    """Write CSV to read and edit: label by label, what was found in the most texts first."""
    rows = sorted(elements, key=lambda row: (row.label, -row.texts, -row.drop, row.word))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((row.word, row.label, row.texts, f"{row.drop:.4f}") for row in rows)


def _element(path: Path, line: int, row: dict[str, str | None]) -> Element:
    word, label, texts, drop = ((row.get(column) or "").strip() for column in COLUMNS)
    if not word or not label:
        raise DataError(f"{path}, line {line}: word or label is empty; fill it in or drop the line")
    try:
        return Element(word, label, int(texts or 0), float(drop or 0))
    except ValueError:
        raise DataError(
            f"{path}, line {line}: texts must be a whole number and drop a number, got {texts!r}"
            f" and {drop!r}; correct them, or leave them empty"
        ) from None


def _check_labels(elements: Elements, space: LabelSpace) -> None:
    strangers = elements.strangers(space)
    if len(strangers) < len(elements.labels):
        return
    near = {label: nearest(label, space.names) for label in strangers[:5]}
    guesses = [
        f"{label!r} (did you mean {near[label]!r}?)" if near.get(label) else repr(label)
        for label in strangers
    ]
    raise DataError(
        f"{elements.source}: none of its labels is in the data: {some(guesses)}. The data have"
        f" {some(space.names)}"
    )


def _words_in_texts(words: WordTokens) -> csr_array:
    """How many tokens of each word a text has, (n, V)."""
    inside = np.flatnonzero(words.word_of >= 0)
    text = np.repeat(np.arange(len(words.tokens)), words.tokens.lengths)[inside]
    shape = (len(words.tokens), len(words.words))
    return csr_array((np.ones(len(inside), np.int64), (text, words.word_of[inside])), shape=shape)


def _labels_of_words(words: tuple[str, ...], elements: Elements, space: LabelSpace) -> csr_array:
    """Which known labels depend on each word, (V, L)."""
    index = space.index
    cells = [
        (number, index[label])
        for number, word in enumerate(words)
        for label in elements.labels_of(word)
        if label in index
    ]
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
    return csr_array(
        (np.ones(len(cells), np.int64), (rows, columns)), shape=(len(words), len(space))
    )
