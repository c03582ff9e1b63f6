"""The tokenizer that a pretrained encoder was trained with; its special tokens stand around every
text.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from tagwright.arrays import Ints
from tagwright.errors import ModelError
from tagwright.storage.checked import reason_of
from tagwright.tokenizers._bounded import require_bounded, require_working
from tagwright.tokenizers._panics import panics_told
from tagwright.tokenizers._texts import UNKNOWN, Texts, encoded, encoded_tokens
from tagwright.tokenizers.source import quiet, transformers
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.words_of import WordTokens, encoded_words

_FILES = ("tokenizer.json", "vocab.*", "*.model")
_SAMPLES = ("a", "the", "1", ".")
_MASK = ("MASK", "mask")  # between brackets of any kind


class OwnPieces:
    """One channel of ids, special tokens included; ids are the encoder's, so 0 need not be
    padding.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        # a text that has the letters "[SEP]" has letters, not a separator
        tokenizer.encode_special_tokens = True
        self.tokenizer = tokenizer

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of ids, as one channel."""
        return (self.tokenizer.get_vocab_size(),)

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Piece to id, in the order of ids."""
        return dict(sorted(self.tokenizer.get_vocab().items(), key=lambda pair: pair[1]))

    @cached_property
    def largest(self) -> int:
        """The highest id of a piece or around a text; there may be lower ones that nothing has."""
        return max(
            [*self.tokenizer.get_vocab().values(), *self.tokenizer.encode("").ids], default=0
        )

    @cached_property
    def specials(self) -> tuple[int, int]:
        """How many special tokens stand before a text and how many behind it."""
        for sample in _SAMPLES:
            inside = np.flatnonzero(
                np.array(self.tokenizer.encode(sample).special_tokens_mask) == 0
            )
            if len(inside):
                return int(inside[0]), len(self.tokenizer.encode(sample).ids) - 1 - int(inside[-1])
        raise ModelError(
            "the tokenizer finds no token in any text; is it the one that belongs to the encoder?"
        )

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """The special tokens, those for padding and unknown among them."""
        return tuple(
            i for i, token in self.tokenizer.get_added_tokens_decoder().items() if token.special
        )

    @cached_property
    def mask(self) -> int | None:
        """The special token that hides a piece ("[MASK]", "<mask>"); None where the encoder knows
        none.
        """
        return next(
            (
                i
                for i, piece in zip(self.marks, self.words(self.marks))
                if piece.strip("[<|>]") in _MASK
            ),
            None,
        )

    def encode(self, texts: Texts) -> Tokens:
        """Ids (N,) of every text, special tokens included; a null or empty text has these alone."""
        return encoded(self.tokenizer, texts, special=True)

    def encode_words(self, texts: Texts) -> WordTokens:
        """The same with words, each with all its pieces; special tokens belong to none."""
        return encoded_words(self.tokenizer, texts, special=True)

    def encode_tokens(self, words: pa.Array) -> Tokens:
        """Pieces of every token by itself, without special tokens."""
        unknown = self.tokenizer.encode("\ufffd", add_special_tokens=False).ids[:1] or [0]
        # to a tokenizer of bytes, a word within a text begins with its space
        lead = " " if '"ByteLevel"' in self.tokenizer.to_str() else ""
        return encoded_tokens(self.tokenizer, words, unknown=unknown[0], lead=lead)

    @cached_property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ids of the special tokens before and behind a text."""
        before, _ = self.specials
        ids = tuple(self.tokenizer.encode("").ids)
        return ids[:before], ids[before:]

    def words(self, ids: Sequence[int] | Ints) -> list[str]:
        """The piece of each id."""
        return [self.tokenizer.id_to_token(int(i)) or UNKNOWN for i in ids]

    def save(self, folder: Path) -> None:
        """Write tokenizer.json and kind.json."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(
            self.tokenizer.to_str(pretty=False), encoding="utf-8"
        )
        (folder / "kind.json").write_text(json.dumps({"kind": "pieces"}) + "\n", encoding="utf-8")


def read_pieces(folder: Path) -> OwnPieces:
    """The tokenizer of an encoder's folder, in its fast form."""
    library = transformers()
    if not any(
        path for pattern in _FILES for path in folder.glob(pattern)
    ):  # the library would make an empty one up
        raise ModelError(
            f"{folder} has no tokenizer ({', '.join(_FILES)}); save the encoder's own beside its"
            " weights"
        )
    try:
        with quiet(), panics_told():
            found = library.AutoTokenizer.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except Exception as error:  # whatever the library trips over
        raise ModelError(
            f"{folder} has no tokenizer that transformers can read: {reason_of(error)}"
        ) from None
    if not getattr(found, "is_fast", False):
        raise ModelError(
            f"the tokenizer of {folder} has no fast form (tokenizer.json); save it with"
            " save_pretrained"
        )
    tokenizer = Tokenizer.from_str(found.backend_tokenizer.to_str())
    try:
        with panics_told():
            require_bounded(tokenizer)
            require_working(tokenizer)
    except Exception as error:
        raise ModelError(f"the tokenizer of {folder} cannot be used: {reason_of(error)}") from None
    return OwnPieces(tokenizer)
