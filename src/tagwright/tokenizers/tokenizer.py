"""A tokenizer turns texts into ids. This one runs a trained `tokenizers.Tokenizer` (Rust, all
cores).
"""

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as LibraryTokenizer

from tagwright.arrays import Ints
from tagwright.errors import ModelError
from tagwright.storage.checked import json_object, readable
from tagwright.storage.files import value_of
from tagwright.tokenizers._bounded import require_bounded, require_working
from tagwright.tokenizers._hashed import Hashed
from tagwright.tokenizers._panics import panics_told
from tagwright.tokenizers._spelling import Spelling
from tagwright.tokenizers._texts import UNKNOWN, Texts, encoded, encoded_tokens, slices
from tagwright.tokenizers.pretrained import OwnPieces
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.words_of import WordTokens, encoded_words


class Tokenizer(Protocol):
    """Texts to ids and back. Id 0 is padding, id 1 unknown, in every channel; `pieces` has the ids
    of its encoder.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of ids of each feature channel."""

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ids that stand before and behind each text; two empty ones where there are none."""

    @property
    def vocabulary(self) -> dict[str, int] | None:
        """Token to id; None where ids are hashes."""

    @property
    def marks(self) -> tuple[int, ...]:
        """Ids of the first channel that stand for no word, besides padding and unknown."""

    def encode(self, texts: Texts) -> Tokens:
        """Ids of every text; a null or empty text has none."""

    def encode_words(self, texts: Texts) -> WordTokens:
        """The same, and which word of its text each token is part of."""

    def encode_tokens(self, words: pa.Array) -> Tokens:
        """Ids of tokens that are cut already: token t has the ids offsets[t]:offsets[t + 1], one at
        least.
        """

    def words(self, ids: Sequence[int] | Ints) -> list[str]:
        """What stands for each id."""

    def save(self, folder: Path) -> None:
        """Write what `load_tokenizer` reads."""


class TrainedTokenizer:
    """A tokenizer with a vocabulary learnt from texts, one feature channel."""

    def __init__(self, tokenizer: LibraryTokenizer) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.tokenizer = tokenizer

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Nothing stands around a text."""
        return (), ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Vocabulary size, as one channel."""
        return (self.tokenizer.get_vocab_size(),)

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Token to id, in the order of ids."""
        return dict(sorted(self.tokenizer.get_vocab().items(), key=lambda pair: pair[1]))

    @property
    def marks(self) -> tuple[int, ...]:
        """None."""
        return ()

    def encode(self, texts: Texts) -> Tokens:
        """Ids (N,) of every text; a null or empty text has none."""
        return encoded(self.tokenizer, texts)

    def encode_words(self, texts: Texts) -> WordTokens:
        """The same with words: what is cut apart before the vocabulary is asked; of characters each
        is one.
        """
        return encoded_words(self.tokenizer, texts)

    def encode_tokens(self, words: pa.Array) -> Tokens:
        """Ids of every token by itself; one that the vocabulary has no part of is unknown."""
        return encoded_tokens(self.tokenizer, words, unknown=1)

    def words(self, ids: Sequence[int] | Ints) -> list[str]:
        """The token of each id."""
        return [self.tokenizer.id_to_token(int(i)) or UNKNOWN for i in ids]

    def save(self, folder: Path) -> None:
        """Write tokenizer.json (which `tokenizers` reads, too) and kind.json."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(
            self.tokenizer.to_str(pretty=False), encoding="utf-8"
        )
        (folder / "kind.json").write_text(json.dumps({"kind": "trained"}) + "\n", encoding="utf-8")


def train(
    model: models.Model,
    trainer: trainers.Trainer,
    texts: Texts,
    *,
    lowercase: bool,
    pieces: pre_tokenizers.PreTokenizer,
    spaces: bool = False,
) -> TrainedTokenizer:
    """Learn a vocabulary from NFC texts that `pieces` cuts. With `spaces`, runs of white space
    become one space first.

    The trainer must put padding and unknown first. They are matched in no text: as special tokens
    of the tokenizer a text that has the letters "[PAD]" would vanish from its batch.
    """
    steps: list[normalizers.Normalizer] = [normalizers.NFC()]
    if lowercase:
        steps.append(normalizers.Lowercase())
    if spaces:
        steps += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    tokenizer = LibraryTokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pieces
    tokenizer.train_from_iterator(slices(texts), trainer, length=len(texts))
    content = json.loads(tokenizer.to_str()) | {"added_tokens": []}
    return TrainedTokenizer(LibraryTokenizer.from_str(json.dumps(content)))


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read a tokenizer that was saved in `folder`."""
    if not (folder / "kind.json").is_file():
        raise ModelError(f"{folder} must hold a tokenizer that was saved by save(folder)")
    return read_tokenizer(lambda name: (folder / name).read_text(encoding="utf-8"), folder)


def read_tokenizer(text_of: Callable[[str], str], folder: Path) -> Tokenizer:
    """The same from what `text_of` says is in the files of the folder. A tokenizer of the library
    is tried out.
    """
    with readable(folder), panics_told():
        content = json_object(text_of("kind.json"))
        kind = value_of(content, "kind", str)
        if kind == "hashed":
            return Hashed.from_dict(value_of(content, "settings", dict))
        if kind == "spelled":
            return Spelling.from_dict(value_of(content, "settings", dict))
        return _of_library(kind, LibraryTokenizer.from_str(text_of("tokenizer.json")))


def _of_library(kind: str, tokenizer: LibraryTokenizer) -> TrainedTokenizer | OwnPieces:
    if kind not in ("pieces", "trained"):
        raise ValueError(f"kind must be hashed, pieces, spelled or trained, got {kind!r}")
    require_bounded(tokenizer)
    found = OwnPieces(tokenizer) if kind == "pieces" else TrainedTokenizer(tokenizer)
    require_working(tokenizer)
    if kind == "trained" and sorted(tokenizer.get_vocab().values()) != list(
        range(tokenizer.get_vocab_size())
    ):
        raise ValueError("the ids of its tokens must be all numbers from 0, each for one token")
    return found
