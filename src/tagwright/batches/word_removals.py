"""Copies of texts with one word taken out, as ids: what each leaves out, cut as inputs cut, and
which are alike.
"""

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Bools, Ints, Range
from tagwright.tokenizers.tokens import Tokens
from tagwright.tokenizers.words_of import WordTokens

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Gaps(NamedTuple):
    """What each copy leaves out: of text `owner` the tokens from `start` to `stop`, which are
    `word`; each (C,).
    """

    owner: Ints
    start: Ints
    stop: Ints
    word: Ints

    def take(self, index: Ints | Bools | Range) -> "Gaps":
        """Some of them."""
        return Gaps(*(column[index] for column in self))

    def __len__(self) -> int:
        return len(self.owner)


def gaps_of(words: WordTokens) -> Gaps:
    """A copy for every word of every text, text after text. A text without words has none."""
    inside = np.flatnonzero(words.place >= 0)
    text = np.repeat(np.arange(len(words.tokens)), words.tokens.lengths)[inside]
    place = words.place[inside]
    opens = (np.diff(text, prepend=-1) != 0) | (np.diff(place, prepend=-1) != 0)
    firsts = np.flatnonzero(opens)
    lasts = np.append(firsts[1:], len(inside)) - 1 if len(firsts) else firsts
    owner = text[firsts]
    base = words.tokens.offsets[owner]
    return Gaps(
        owner, inside[firsts] - base, inside[lasts] + 1 - base, words.word_of[inside[firsts]]
    )


def copies(tokens: Tokens, gaps: Gaps, ends: tuple[int, int] | None = None) -> Tokens:
    """The texts without their gaps. With `ends` a copy keeps so many tokens at its beginning and
    end, and no more.
    """
    removed = gaps.stop - gaps.start
    whole = tokens.lengths[gaps.owner] - removed
    lengths = whole if ends is None else np.minimum(whole, sum(ends))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    if ends is not None and (whole > lengths).any():
        place += np.where(place >= ends[0], np.repeat(whole - lengths, lengths), 0)
    place += np.where(place >= np.repeat(gaps.start, lengths), np.repeat(removed, lengths), 0)
    return Tokens(tokens.ids[place + np.repeat(tokens.offsets[gaps.owner], lengths)], offsets)


def first_alike(tokens: Tokens) -> Ints:
    """For each row the first with the same ids, (n,); its own number where there is none before
    it.
    """
    _, first, group = np.unique(_digests(tokens), return_index=True, return_inverse=True)
    found = first[group.ravel()]
    later = np.flatnonzero(found != np.arange(len(tokens)))
    found[later] = np.where(_equal(tokens, later, found[later]), found[later], later)
    return found


def _digests(tokens: Tokens) -> Ints:
    """A number for each row, the same for the same ids; rarely the same for others."""
    lengths, random = tokens.lengths, np.random.default_rng(0)
    ids = (tokens.ids if tokens.ids.ndim == 2 else tokens.ids[:, None]).astype(np.uint64)
    channels = random.integers(1, 2**63, ids.shape[1], np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = ((ids + np.uint64(1)) * channels).sum(axis=1, dtype=np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
    of_place = random.integers(1, 2**63, int(lengths.max(initial=1)), np.uint64) * np.uint64(
        2
    ) + np.uint64(1)
    place = np.arange(len(ids)) - np.repeat(tokens.offsets[:-1], lengths)
    sums = np.concatenate(
        [np.zeros(1, np.uint64), np.cumsum(mixed * of_place[place], dtype=np.uint64)]
    )
    return (sums[tokens.offsets[1:]] - sums[tokens.offsets[:-1]]) ^ (
        lengths.astype(np.uint64) * _MIX
    )


def _equal(tokens: Tokens, left: Ints, right: Ints) -> Bools:
    """Whether rows are the same, bool (n,)."""
    lengths = tokens.lengths[left]
    same = lengths == tokens.lengths[right]
    lengths = np.where(same, lengths, 0)
    ends = np.cumsum(lengths)
    place = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    mine, other = (
        tokens.ids[place + np.repeat(tokens.offsets[rows], lengths)] for rows in (left, right)
    )
    differs = mine != other if mine.ndim == 1 else (mine != other).any(axis=1)
    same[np.repeat(np.arange(len(left)), lengths)[differs]] = False
    return same
