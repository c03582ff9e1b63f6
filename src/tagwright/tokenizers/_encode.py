"""Texts to flat ids by a `tokenizers.Tokenizer` (Rust, all cores)."""

from itertools import chain

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from tagwright.tokenizers._panics import encoding
from tagwright.tokenizers._texts import Texts, slices
from tagwright.tokenizers.tokens import Tokens


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
