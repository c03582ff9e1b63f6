"""What all tokenizers share: texts in slices and as ids, and which scripts have no spaces."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from tagwright.data.slices import bounds, row_bytes
from tagwright.tokenizers._panics import encoding
from tagwright.tokenizers.tokens import Tokens

Texts: TypeAlias = "pa.ChunkedArray | pa.Array | Sequence[str]"

# texts handled at once: tokenizers need some hundred bytes for each byte
SLICE, SLICE_BYTES = (
    10_000,
    1 << 21,
)
# ids 0 and 1; no text can produce them: brackets are tokens of their own
PADDING, UNKNOWN = (
    "[PAD]",
    "[UNK]",
)

# In a character class. No spaces between words: a character is the smallest safe word. The two
# long-vowel signs belong to no script.
UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ーー"
)


def slices(texts: Texts) -> Iterator[list[str]]:
    """Texts in lists of at most `SLICE` texts and `SLICE_BYTES` bytes; null is the empty text."""
    arrow = isinstance(texts, pa.ChunkedArray | pa.Array)
    sizes = (
        row_bytes(texts)
        if arrow
        else np.fromiter((len(text or "") for text in texts), np.int64, len(texts))
    )
    for start, stop in bounds(sizes, rows=SLICE, size=SLICE_BYTES):
        part = texts[start:stop]
        rows = part.to_pylist() if isinstance(part, pa.ChunkedArray | pa.Array) else part
        yield [text or "" for text in rows]


def encoded(tokenizer: Tokenizer, texts: Texts, *, special: bool = False) -> Tokens:
    """Ids (N,) of every text, with the tokenizer's special tokens around it where `special`."""
    ids, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    for part in slices(texts):
        with encoding():
            made = tokenizer.encode_batch_fast(part, add_special_tokens=special)
        rows = [one.ids for one in made]
        lengths.append(np.fromiter(map(len, rows), np.int64, len(rows)))
        ids.append(np.fromiter(chain.from_iterable(rows), np.int32, int(lengths[-1].sum())))
    return Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)))


def encoded_tokens(
    tokenizer: Tokenizer, words: pa.Array, *, unknown: int, lead: str = ""
) -> Tokens:
    """Ids of tokens that are cut already, each distinct one made once; `lead` stands before each,
    as in a text.

    One without any id gets `unknown`, so that every token has a place.
    """
    distinct = words.dictionary_encode()
    made = encoded(tokenizer, [lead + (word or "") for word in distinct.dictionary.to_pylist()])
    rows, sizes = distinct.indices.to_numpy().astype(np.int64), made.lengths
    counts = np.maximum(sizes, 1)[rows]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    ids = np.append(made.ids, np.int32(unknown))
    source = np.where(
        np.repeat(sizes[rows], counts) > 0,
        np.repeat(made.offsets[rows], counts) + place,
        len(made.ids),
    )
    return Tokens(ids[source], offsets)
