"""The tokenizer of `spelled`: two channels, one of words and one of their letters."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Ints
from tagwright.errors import SettingsError
from tagwright.storage.files import value_of
from tagwright.tokenizers._hashed import cut
from tagwright.tokenizers._texts import UNKNOWN, Texts, slices
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.words_of import Slice, WordTokens, gathered

START = 2  # of a text in the word channel
OPENS, CLOSES = 2, 3  # of a word in the letter channel
FIRST_WORD, FIRST_LETTER = 3, 4


@dataclass(frozen=True)
class Spelling:
    """A text is a row of letters, [start] (< a b >) (< a >) …: (0, letter), and (word, 1) before
    each word.

    So either channel alone, without its zeros, reads as a text of words or of letters; the 1 keeps
    words apart.
    """

    lexicon: tuple[str, ...]
    letters: str  # ascending
    lowercase: bool

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Nothing stands around a text."""
        return (), ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ids of the channels word and letter."""
        return FIRST_WORD + len(self.lexicon), FIRST_LETTER + len(self.letters)

    @property
    def vocabulary(self) -> None:
        """Two channels have no single list of words."""
        return None

    @property
    def marks(self) -> tuple[int, ...]:
        """The start of a text."""
        return (START,)

    @cached_property
    def _known(self) -> pa.Array:
        return pa.array(self.lexicon, pa.string())

    @cached_property
    def _codes(self) -> Ints:
        return np.frombuffer(self.letters.encode("utf-32-le"), np.uint32)

    def encode_tokens(self, words: pa.Array) -> Tokens:
        """Not for tagging: a word is not one place here."""
        raise SettingsError(
            "spelled is for whole texts; to tag tokens take hashes, word, char or subword"
        )

    def encode(self, texts: Texts) -> Tokens:
        """Ids (N, 2) of every text; a null or empty text has none."""
        parts = [self._rows(words_of(part, lowercase=self.lowercase)) for part in slices(texts)]
        ids = np.concatenate([np.empty((0, 2), np.int32), *(part[0] for part in parts)])
        return Tokens(
            ids, np.cumsum(np.concatenate([np.zeros(1, np.int64), *(part[1] for part in parts)]))
        )

    def encode_words(self, texts: Texts) -> WordTokens:
        """The same with words, each with all its rows; the start of a text belongs to none."""
        return gathered((self._slice(part) for part in slices(texts)), np.empty((0, 2), np.int32))

    def _slice(self, texts: Sequence[str]) -> Slice:
        words, counts = words_of(texts, lowercase=self.lowercase)
        ids, lengths = self._rows((words, counts))
        # a word opens with its number; so does the text, with a mark
        occurrence = np.cumsum(ids[:, 0] != 0) - 1
        marks = ids[:, 0] == START
        return Slice(ids, lengths, np.where(marks, -1, occurrence - np.cumsum(marks)), words)

    def _rows(self, cut_words: tuple[pa.Array, Ints]) -> tuple[Ints, Ints]:
        """Words and how many each text has -> rows (N, 2) with the texts' starts, and how many each
        text has.
        """
        words, counts = cut_words
        distinct = words.dictionary_encode()
        spelled, starts = self._spell(distinct.dictionary)
        rows, row_lengths = _gathered(spelled, starts, distinct.indices.to_numpy().astype(np.int64))
        ends = np.concatenate([[0], np.cumsum(row_lengths)])[
            np.concatenate([[0], np.cumsum(counts)])
        ]
        firsts = ends[np.flatnonzero(np.diff(ends))]
        ids = np.insert(rows, firsts, np.array([START, 1], np.int32), axis=0)
        return ids, np.diff(ends) + (np.diff(ends) > 0)

    def _spell(self, words: pa.Array) -> tuple[Ints, Ints]:
        """The rows (M, 2) of all words one after the other, and where each word's begin, (n +
        1,).
        """
        found = (
            pc.fill_null(pc.index_in(words, value_set=self._known), -1).to_numpy().astype(np.int64)
        )
        word_ids = np.where(found >= 0, found + FIRST_WORD, 1)
        letter_counts = pc.utf8_length(words).to_numpy().astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(letter_counts + 3)])
        codes = np.frombuffer("".join(words.to_pylist()).encode("utf-32-le"), np.uint32)
        letters = np.ones(starts[-1], np.int32)
        letters[starts[:-1] + 1], letters[starts[1:] - 1] = OPENS, CLOSES
        inside = np.ones(starts[-1], bool)
        inside[starts[:-1]] = inside[starts[:-1] + 1] = inside[starts[1:] - 1] = False
        letters[inside] = self._letter_ids(codes)
        channel = np.zeros(starts[-1], np.int32)
        channel[starts[:-1]] = word_ids
        return np.stack([channel, letters], axis=1), starts

    def _letter_ids(self, codes: Ints) -> Ints:
        if not len(self._codes):
            return np.ones(len(codes), np.int32)
        place = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return np.where(self._codes[place] == codes, place + FIRST_LETTER, 1).astype(np.int32)

    def words(self, ids: Sequence[int] | Ints) -> list[str]:
        """The word of each id; of (n, 2) ids the word channel, "" inside a word."""
        names = ("", UNKNOWN, "[START]", *self.lexicon)
        return [names[int(row)] for row in np.asarray(ids).reshape(len(ids), -1)[:, 0]]

    def save(self, folder: Path) -> None:
        """Write kind.json, which holds everything."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {"kind": "spelled", "settings": asdict(self)}
        (folder / "kind.json").write_text(
            json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8"
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, object]) -> "Spelling":
        """From the settings that `save` wrote; what is wrong with them is a ValueError."""
        lexicon, letters = value_of(content, "lexicon", list), value_of(content, "letters", str)
        if {type(word) for word in lexicon} - {str}:
            raise ValueError("lexicon must be a list of strings")
        return cls(
            lexicon=tuple(lexicon), letters=letters, lowercase=value_of(content, "lowercase", bool)
        )


def words_of(texts: Sequence[str], *, lowercase: bool) -> tuple[pa.Array, Ints]:
    """All words of the texts, cut as tokenizers/word.py cuts them, and how many each text has."""
    words, counts = cut(list(texts))
    return (pc.utf8_lower(words) if lowercase else words), counts


def _gathered(rows: Ints, starts: Ints, which: Ints) -> tuple[Ints, Ints]:
    """The rows of the words `which`, in that order, and how many each has."""
    lengths = np.diff(starts)[which]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return rows[np.arange(ends[-1]) + np.repeat(starts[which] - ends[:-1], lengths)], lengths
