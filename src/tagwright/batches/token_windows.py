"""Texts for tagging: windows of positions, and for which token of a text each position speaks."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.batches.bucket import ROOMS
from tagwright.batches.inputs import collate
from tagwright.errors import SettingsError
from tagwright.tokenizers.tokens import Tokens

Around = tuple[tuple[int, ...], tuple[int, ...]]  # ids that stand before and behind every window


class Places(NamedTuple):
    """Windows of the texts, one after the other; a text that is short enough is one window.

    A token with several pieces speaks at its first one. Of two windows that share a token, the one
    in which it lies deeper speaks for it, so that every token is spoken for once, and with context
    on both sides.
    """

    tokens: Tokens  # a row a window
    owner: Ints  # int64 (N,): the token, numbered through all texts, or -1
    text: Ints  # int64 (windows,)
    token_count: int  # of all texts


def placed(
    pieces: Tokens,
    offsets: Ints,
    *,
    limit: int,
    overlap: int = 64,
    around: Around = ((), ()),
    whole: bool = True,
) -> Places:
    """Lay out texts whose tokens are `pieces` (token t has the ids pieces.offsets[t]:[t + 1], one
    at least).

    Text i has the tokens offsets[i]:offsets[i + 1]. No window is longer than `limit`, special ids
    `around` it included. Not `whole`, each text is its first window alone, and nothing speaks for
    the tokens behind it.
    """
    room = limit - sum(map(len, around))
    if room < 1:
        raise SettingsError(f"fit.limit is {limit}, which leaves no room for tokens")
    step = room - min(overlap, room // 2)
    starts = pieces.offsets[offsets]  # of the texts, among the pieces
    lengths = np.diff(starts)
    counts = 1 + np.maximum(-(-(lengths - room) // step), 0) * whole
    text = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts)
    # the last one reaches back, and is full
    begin = np.minimum(number * step, np.maximum(lengths[text] - room, 0))
    size = np.minimum(lengths[text] - begin, room)
    inside, window = _ranges(starts[text] + begin, size)
    owner: Ints = np.full(len(pieces.ids), -1, np.int64)
    owner[pieces.offsets[:-1]] = np.arange(len(pieces))
    low, high = _own(begin, size, number, counts[text])
    within = inside - starts[text][window]
    speaks = np.where((within >= low[window]) & (within < high[window]), owner[inside], -1)
    tokens, owner = _with_specials(pieces.ids[inside], speaks, size, around)
    return Places(tokens, owner, text, len(pieces))


def _own(begin: Ints, size: Ints, number: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """From where to where each window speaks, in positions of its text: seams lie in the middle of
    what two share.
    """
    end = begin + size
    after = np.append(begin[1:], 0)
    seam = np.where(number + 1 < counts, (after + end) // 2, end)
    return np.where(number > 0, np.append(0, seam[:-1]), 0), seam


def _ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Every index of ranges, one after the other, and the number of its range."""
    number = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + (starts - before)[number], number


def _with_specials(ids: Ints, owner: Ints, sizes: Ints, around: Around) -> tuple[Tokens, Ints]:
    before, behind = around
    whole = sizes + len(before) + len(behind)
    offsets = np.concatenate([[0], np.cumsum(whole)])
    if not before and not behind:
        return Tokens(ids, offsets), owner
    kept, _ = _ranges(offsets[:-1] + len(before), sizes)
    laid, speaks = (
        np.zeros((offsets[-1], *ids.shape[1:]), ids.dtype),
        np.full(offsets[-1], -1, np.int64),
    )
    laid[kept], speaks[kept] = ids, owner
    for place, special in enumerate(before):
        laid[offsets[:-1] + place] = special
    for place, special in enumerate(behind):
        laid[offsets[1:] - len(behind) + place] = special
    return Tokens(laid, offsets), speaks


class TagInputs(NamedTuple):
    """Rows of windows, as an encoder of tokens takes them."""

    places: Places
    limit: int

    @property
    def tokens(self) -> Tokens:
        """The windows."""
        return self.places.tokens

    @property
    def rooms(self) -> Mapping[str, int]:
        """Positions that a batch may hold in prediction, by kind of device."""
        return ROOMS

    @property
    def lengths(self) -> Ints:
        """Positions of each window, (windows,)."""
        return self.tokens.lengths

    @property
    def counts(self) -> int:
        """Each row is a window of its own."""
        return 1

    @property
    def ends(self) -> None:
        """Windows are read whole."""
        return None

    @property
    def row_a_text(self) -> bool:
        """Each window is a row."""
        return True

    def batch(self, index: Ints) -> tuple[Tensor, ...]:
        """Ids (B, T) and lengths (B,)."""
        return tuple(collate(self.tokens, index, limit=self.limit))

    def owners(self, index: Ints) -> Ints:
        """For which token each position of a batch speaks, (B, T); -1 for none."""
        return laid_out(self.places.owner, self.tokens.offsets, index)

    def joined(self, other: "TagInputs") -> "TagInputs":
        """These rows, then those of the other."""
        mine, theirs = self.places, other.places
        moved = np.where(theirs.owner < 0, -1, theirs.owner + mine.token_count)
        texts = int(mine.text[-1]) + 1 if len(mine.text) else 0
        both = Places(
            mine.tokens.joined(theirs.tokens),
            np.concatenate([mine.owner, moved]),
            np.concatenate([mine.text, theirs.text + texts]),
            mine.token_count + theirs.token_count,
        )
        return TagInputs(both, self.limit)


def laid_out(values: Ints, offsets: Ints, index: Ints) -> Ints:
    """Values (N,) of at least -1, one a position, as rows (B, T) of a batch; -1 behind the last.

    >>> laid_out(np.array([5, 6, 7]), np.array([0, 1, 3]), np.array([0, 1]))
    array([[ 5, -1],
           [ 6,  7]])
    """
    return collate(Tokens(values + 1, offsets), index, limit=len(values) + 1).ids.numpy() - 1
