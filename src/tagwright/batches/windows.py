"""Rows of word pieces between special tokens: long ones cut to their head, tail or both, or read in
windows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Ints
from tagwright.batches.bucket import ROOMS
from tagwright.errors import SettingsError, unknown
from tagwright.tokenizers.tokens import Tokens

LONG = ("head", "tail", "both", "windows")


@dataclass(frozen=True, kw_only=True)
class PieceInputs:
    """Texts as one or more windows of at most `limit` pieces, `specials` before and behind each of
    them.

    A window of n pieces between its specials holds the text's pieces from `first`; from its piece
    number `turn` on, it skips `gap` of them, which leaves out the middle of a text.
    """

    tokens: Tokens
    specials: tuple[int, int]
    limit: int
    long: str = "head"
    overlap: int = 32
    most: int = 16  # windows of a text
    rooms: ClassVar[Mapping[str, int]] = ROOMS

    def __post_init__(self) -> None:
        """Refuse windows that could not move on."""
        if self.long not in LONG:
            raise SettingsError(unknown("way with long texts (encoder.long)", self.long, LONG))
        if self.overlap < 0 or self.most < 1:
            raise SettingsError(
                f"encoder.overlap must be at least 0 and encoder.windows 1, got {self.overlap},"
                f" {self.most}"
            )
        least = sum(self.specials) + 1 + (self.overlap if self.long == "windows" else 0)
        if self.limit < least:
            raise SettingsError(
                f"fit.limit must be at least {least} here (special tokens, overlap), got"
                f" {self.limit}"
            )

    @property
    def _inner(self) -> Ints:
        """Pieces of each text between its specials, (n,)."""
        return self.tokens.lengths - sum(self.specials)

    @property
    def room(self) -> int:
        """Pieces that a window has beside its specials."""
        return self.limit - sum(self.specials)

    @property
    def ends(self) -> tuple[int, int]:
        """How many pieces of a text, specials included, are read at its beginning, and at its end
        if it is longer.
        """
        before, behind = self.specials
        if self.long == "tail":
            return before, self.room + behind
        if self.long == "both":
            return before + (self.room + 1) // 2, self.room // 2 + behind
        steps = self.most - 1 if self.long == "windows" else 0
        return before + self.room + steps * (self.room - self.overlap), behind

    @cached_property
    def counts(self) -> Ints:
        """Windows of each text, (n,)."""
        if self.long != "windows":
            return np.ones(len(self.tokens), np.int64)
        beyond = np.maximum(self._inner - self.room, 0)
        return np.minimum(1 - (-beyond // (self.room - self.overlap)), self.most)

    @cached_property
    def lengths(self) -> Ints:
        """What each text costs, (n,): the pieces of all its windows."""
        held = np.minimum(self._inner, self.room) + sum(self.specials)
        return held * self.counts

    @property
    def row_a_text(self) -> bool:
        """Unless texts are read in windows."""
        return self.long != "windows"

    def batch(self, index: Ints) -> tuple[Tensor, ...]:
        """Ids (W, T) padded with 0 and lengths (W,) of the windows, text after text; with windows
        also counts (B,).
        """
        index = np.asarray(index)
        counts = self.counts[index]
        rows = np.repeat(index, counts)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        places, lengths = self._places(rows, number)
        inside = np.arange(places.shape[1]) < lengths[:, None]
        ids = np.zeros(places.shape, np.int64)
        ids[inside] = self.tokens.ids[places[inside]]
        tensors = [torch.from_numpy(ids), torch.from_numpy(lengths)]
        return (*tensors, torch.from_numpy(counts)) if self.long == "windows" else tuple(tensors)

    def _places(self, rows: Ints, number: Ints) -> tuple[Ints, Ints]:
        """Where in the flat ids each piece of each window stands (W, T), and the windows' lengths
        (W,).
        """
        before, behind = self.specials
        inner = self._inner[rows]
        held = np.minimum(inner, self.room)
        beyond = inner - held  # pieces that a single window leaves out
        first, turn, gap = np.zeros_like(beyond), held, np.zeros_like(beyond)
        if self.long == "tail":
            first = beyond
        elif self.long == "both":
            turn, gap = (held + 1) // 2, beyond
        elif (
            self.long == "windows"
        ):  # the last one ends where the text ends, unless there are too many
            first = np.minimum(number * (self.room - self.overlap), beyond)
        lengths = held + before + behind
        # (T,), counted from the first that is not special
        piece = np.arange(lengths.max(initial=1)) - before
        shift = first[:, None] + np.where(piece >= turn[:, None], gap[:, None], 0)
        shift = np.where(piece < 0, 0, shift)
        # the specials behind the text
        shift = np.where(piece >= held[:, None], beyond[:, None], shift)
        return self.tokens.offsets[rows][:, None] + before + piece + shift, lengths

    def joined(self, other: "PieceInputs") -> "PieceInputs":
        """These rows, then those of the other."""
        return PieceInputs(
            tokens=self.tokens.joined(other.tokens),
            specials=self.specials,
            limit=self.limit,
            long=self.long,
            overlap=self.overlap,
            most=self.most,
        )

    def said(self) -> str | None:
        """A sentence on texts that do not fit, or None where all do."""
        beyond = int((self._inner > self.room).sum())
        if not beyond:
            return None
        share = (
            f"{_percent(beyond / len(self.tokens))} of texts are longer than {self.limit} word"
            " pieces"
        )
        if self.long != "windows":
            lost = {"head": "end", "tail": "beginning", "both": "middle"}[self.long]
            return f"{share}; their {lost} is left out (encoder.long: {', '.join(LONG)}; fit.limit)"
        cut = int((self.tokens.lengths > sum(self.ends)).sum())
        rest = f"; of {cut} the end is left out (encoder.windows)" if cut else ""
        return (
            f"{share}; they are read in windows, up to {self.counts.max()} a text, whose scores are"
            f" pooled{rest}"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"
