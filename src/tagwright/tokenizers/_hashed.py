"""Words as four hashed features: the word, its first and last letters, its shape. Nothing is
learnt.
"""

import json
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Ints
from tagwright.errors import SettingsError
from tagwright.storage.files import value_of
from tagwright.tokenizers._texts import UNSPACED, Texts, slices
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.words_of import Slice, WordTokens, gathered

# what is a word of its own without spaces
_APART = rf"([{UNSPACED}]\p{{M}}*|[^\p{{L}}\p{{M}}\p{{N}}\s])"
# in this order: x before X
_SHAPE = (
    (r"[\p{Ll}\p{Lo}\p{Lm}]", "x"),
    (r"[\p{Lu}\p{Lt}]", "X"),
    (r"\p{N}", "d"),
)
LONGEST = 1000  # letters of an affix; only words that are longer still would tell more apart
_RUNS = (("x{5,}", "xxxx"), ("X{5,}", "XXXX"), ("d{5,}", "dddd"))


@dataclass(frozen=True, kw_only=True)
class Hashed:
    """A tokenizer of four channels; ids are stable on every machine. Two words may share an id."""

    size: int
    affix_size: int
    shape_size: int
    affix: int

    def __post_init__(self) -> None:
        if min(self.sizes) < 3 or not 1 <= self.affix <= LONGEST:
            raise SettingsError(
                "hashes need sizes of at least 3 and an affix of 1 to"
                f" {LONGEST} letters, got {self}"
            )

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Nothing stands around a text."""
        return (), ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ids of the channels word, prefix, suffix, shape."""
        return (self.size, self.affix_size, self.affix_size, self.shape_size)

    @property
    def vocabulary(self) -> None:
        """Hashes have no list of words."""
        return None

    @property
    def marks(self) -> tuple[int, ...]:
        """None."""
        return ()

    def encode(self, texts: Texts) -> Tokens:
        """Ids (N, 4) of every text; a null or empty text has none."""
        ids: list[Ints] = [np.empty((0, 4), np.int32)]
        lengths: list[Ints] = [np.zeros(1, np.int64)]
        for part in slices(texts):
            words, counts = cut(part)
            lengths.append(counts)
            ids.append(self._ids(words))
        return Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)))

    def encode_words(self, texts: Texts) -> WordTokens:
        """The same with words, in lower case as they are hashed."""
        cuts = (cut(part) for part in slices(texts))
        parts = (
            Slice(self._ids(words), counts, np.arange(len(words)), pc.utf8_lower(words))
            for words, counts in cuts
        )
        return gathered(parts, np.empty((0, 4), np.int32))

    def encode_tokens(self, words: pa.Array) -> Tokens:
        """Ids (N, 4), one row a token."""
        normal = pc.utf8_normalize(words, form="NFC")
        return Tokens(self._ids(normal), np.arange(len(words) + 1, dtype=np.int64))

    def _ids(self, words: pa.Array) -> Ints:
        """Ids (n, 4) of n words, each distinct one made once."""
        distinct = words.dictionary_encode()
        return self._features(distinct.dictionary)[distinct.indices.to_numpy()]

    def _features(self, words: pa.Array) -> Ints:
        """Ids (n, 4) of n words."""
        lower = pc.utf8_lower(words)
        prefix = pc.utf8_slice_codeunits(lower, 0, self.affix)
        suffix = pc.utf8_slice_codeunits(lower, -self.affix)
        channels = zip((lower, prefix, suffix, _shape(words)), self.sizes)
        return np.stack([_hash(strings, size) for strings, size in channels], axis=1)

    def words(self, ids: Sequence[int] | Ints) -> list[str]:
        """The number of each id, since a hash cannot be turned back; of (n, 4) ids the word
        channel.
        """
        return [f"#{int(row)}" for row in np.asarray(ids).reshape(len(ids), -1)[:, 0]]

    def save(self, folder: Path) -> None:
        """Write kind.json: the settings are all there is."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {"kind": "hashed", "settings": asdict(self)}
        (folder / "kind.json").write_text(json.dumps(content) + "\n", encoding="utf-8")

    @classmethod
    def from_dict(cls, content: Mapping[str, object]) -> "Hashed":
        """From the settings that `save` wrote; what is wrong with them is a ValueError."""
        return cls(**{name: value_of(content, name, int) for name in content})


def cut(texts: list[str]) -> tuple[pa.Array, Ints]:
    """All words of the texts, cut as tokenizers/word.py cuts them, and how many each text has."""
    strings = pa.array([unicodedata.normalize("NFC", text) for text in texts], pa.string())
    spaced = pc.utf8_trim_whitespace(pc.replace_substring_regex(strings, _APART, r" \1 "))
    lists = pc.utf8_split_whitespace(spaced)
    words = pc.list_flatten(lists)
    # splitting nothing gives one empty word
    empty = pc.equal(spaced, pa.scalar("")).to_numpy(zero_copy_only=False)
    counts = pc.list_value_length(lists).to_numpy().astype(np.int64) - empty
    return words.filter(pc.not_equal(words, pa.scalar(""))), counts


def _shape(words: pa.Array) -> pa.Array:
    """Letters to x and X, digits to d, no run longer than four: "McDonald's" -> "XxXxxxx'x"."""
    for pattern, replacement in _SHAPE + _RUNS:
        words = pc.replace_substring_regex(words, pattern, replacement)
    return words


def _hash(strings: pa.Array, size: int) -> Ints:
    """An id from 2 to size - 1 for each string; each distinct string is hashed once."""
    distinct = strings.dictionary_encode()
    sums = [zlib.crc32(str(string).encode()) for string in distinct.dictionary.to_pylist()]
    ids = 2 + np.array(sums, np.int64) % (size - 2)
    return ids.astype(np.int32)[distinct.indices.to_numpy()]
