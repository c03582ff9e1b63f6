"""Which word of its text every token belongs to: for what is done to texts word by word."""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from tagwright.arrays import Bools, Ints
from tagwright.tokenizers._panics import encoding
from tagwright.tokenizers._texts import Texts, slices
from tagwright.tokenizers.tokens import Tokens

_SPACE = "▁"  # how tokenizers write one
_NONE = {None: -1}


class WordTokens(NamedTuple):
    """Tokens as `encode` gives them, and the words that they are part of.

    A word is what the tokenizer cuts a text into before it looks for pieces, with all its pieces.
    White space that is a token, special tokens and marks belong to none: -1.
    """

    tokens: Tokens
    word_of: Ints  # int32 (N,), into `words`
    # int32 (N,), which word of its text, from 0; two equal neighbors are two words
    place: Ints
    words: tuple[str, ...]  # distinct, as the tokenizer normalizes them


class Slice(NamedTuple):
    """Tokens of some texts. `occurrence` (N,) numbers the words from 0 through all the texts, -1
    for none.
    """

    ids: Ints
    lengths: Ints  # (n,)
    occurrence: Ints
    strings: pa.Array  # the word of each occurrence


def gathered(parts: Iterable[Slice], empty: Ints) -> WordTokens:
    """All slices as one; `empty` are the ids of no text. A word that is nothing but white space is
    none.
    """
    numbers: dict[str, int] = {}
    ids: list[Ints] = [empty]
    lengths: list[Ints] = [np.zeros(1, np.int64)]
    word_of: list[Ints] = [np.empty(0, np.int32)]
    places: list[Ints] = [np.empty(0, np.int32)]
    for part in parts:
        distinct = part.strings.dictionary_encode()
        known = [
            numbers.setdefault(word, len(numbers)) if word.strip() else -1
            for word in distinct.dictionary.to_pylist()
        ]
        of_occurrence = np.array([*known, -1], np.int32)[
            distinct.indices.to_numpy().astype(np.int64)
        ]
        ids.append(part.ids)
        lengths.append(part.lengths)
        # -1 takes the last one
        word_of.append(np.append(of_occurrence, np.int32(-1))[part.occurrence])
        places.append(_places(part, of_occurrence >= 0))
    tokens = Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)))
    return WordTokens(tokens, np.concatenate(word_of), np.concatenate(places), tuple(numbers))


def _places(part: Slice, counted: Bools) -> Ints:
    """Which counted word of its text each token is part of, -1 for none."""
    inside = np.append(counted, False)[part.occurrence]
    number = np.append(np.cumsum(counted) - 1, -1)[part.occurrence]
    text = np.repeat(np.arange(len(part.lengths)), part.lengths)
    first = np.full(len(part.lengths), np.iinfo(np.int64).max)
    np.minimum.at(first, text[inside], number[inside])
    return np.where(inside, number - first[text], -1).astype(np.int32)


def encoded_words(tokenizer: Tokenizer, texts: Texts, *, special: bool = False) -> WordTokens:
    """Words of a trained `tokenizers.Tokenizer`: its pre-tokens."""
    parts = (_slice(tokenizer, part, special=special) for part in slices(texts))
    return gathered(parts, np.empty(0, np.int32))


def _slice(tokenizer: Tokenizer, texts: list[str], *, special: bool) -> Slice:
    with encoding():
        encodings = tokenizer.encode_batch(texts, add_special_tokens=special)
    rows = [one.ids for one in encodings]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    total = int(lengths.sum())
    ids = np.fromiter(chain.from_iterable(rows), np.int32, total)
    pre_tokens = list(chain.from_iterable(one.word_ids for one in encodings))
    pre_token = np.fromiter(map(_NONE.get, pre_tokens, pre_tokens), np.int64, total)
    spans = chain.from_iterable(chain.from_iterable(one.offsets for one in encodings))
    starts, ends = np.fromiter(spans, np.int64, 2 * total).reshape(total, 2).T
    text = np.repeat(np.arange(len(rows)), lengths)
    inside = pre_token >= 0
    opens = inside & (np.diff(pre_token, prepend=-1) != 0) | inside & (
        np.diff(text, prepend=-1) != 0
    )
    occurrence = np.where(inside, np.cumsum(opens) - 1, -1)
    firsts = np.flatnonzero(opens)
    tops = np.full(len(firsts), 0, np.int64)
    np.maximum.at(tops, occurrence[inside], ends[inside])
    surfaces = [
        texts[row][a:b]
        for row, a, b in zip(text[firsts].tolist(), starts[firsts].tolist(), tops.tolist())
    ]
    return Slice(ids, lengths, occurrence, _normalized(tokenizer, surfaces))


def _normalized(tokenizer: Tokenizer, surfaces: list[str]) -> pa.Array:
    """Words as they stand in the texts -> as the tokenizer normalizes them, without the space
    before them.
    """
    distinct = pa.array(surfaces, pa.string()).dictionary_encode()
    normalize = (
        (lambda text: text) if tokenizer.normalizer is None else tokenizer.normalizer.normalize_str
    )
    with encoding():
        read = [normalize(one).strip().strip(_SPACE) for one in distinct.dictionary.to_pylist()]
    return pa.array(read, pa.string()).take(distinct.indices)
