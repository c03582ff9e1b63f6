"""Hiding some pieces of texts, as BERT's pretraining does: 80% of them behind a mask, 10% behind
another piece.

Shapes do not depend on what is drawn, and the host learns nothing of it: a step that hides can be
captured.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from tagwright.models.heads.mlm import MaskedPieces

MASKED, SWAPPED = 0.8, 0.1  # of the chosen pieces; the others stay as they are
SPARE = 4  # standard deviations of how many are chosen, that there is room for


class HiddenPieces(NamedTuple):
    """Texts (B, T) with some pieces hidden, and K places of which those that are `chosen` are asked
    for.
    """

    ids: Tensor  # (B, T)
    places: Tensor  # (K,), counted through all rows
    chosen: Tensor  # bool (K,)
    gold: Tensor  # (K,), what stood there

    def chosen_alone(self) -> "HiddenPieces":
        """Without the places that are not chosen; how many are left is a matter of the draw."""
        return HiddenPieces(
            self.ids, self.places[self.chosen], self.chosen[self.chosen], self.gold[self.chosen]
        )

    def weights(self, of_rows: Tensor) -> Tensor:
        """What each place counts (K,) where the rows (B,) count so much, each by the mean over its
        chosen places.
        """
        flat = torch.zeros(self.ids.numel(), dtype=of_rows.dtype, device=of_rows.device)
        counts = flat.scatter(0, self.places, self.chosen.to(flat.dtype)).view_as(self.ids).sum(1)
        return (of_rows / counts.clamp_min(1))[self.places // self.ids.shape[1]] * self.chosen


def hide(
    ids: Tensor, lengths: Tensor, head: MaskedPieces, *, share: float, generator: torch.Generator
) -> HiddenPieces:
    """Choose among the pieces of texts (B, T) of these lengths (B,), and hide what is chosen.

    Of the chosen, 80% become the mask, 10% another piece, 10% stay. How many places come back is a
    matter of the shape: what is chosen beyond them, once in some 30,000 times, is left as it is.
    """
    inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
    device = ids.device
    keys = torch.rand(ids.shape, generator=generator, device=device)
    keys = keys.masked_fill(~(inside & head.maskable[ids]), 1.0)
    room = room_for(ids.numel(), share)
    lowest = keys.flatten().topk(room, largest=False, sorted=False)
    places, chosen = lowest.indices, lowest.values < share
    gold = ids.flatten().index_select(0, places)
    how = torch.rand(room, generator=generator, device=device)
    drawn = torch.randint(len(head.pieces), (room,), generator=generator, device=device)
    other = head.pieces[drawn]
    put = torch.where(how < MASKED + SWAPPED, other, gold).masked_fill(how < MASKED, head.mask)
    changed = ids.flatten().scatter(0, places, torch.where(chosen, put, gold))
    return HiddenPieces(changed.view_as(ids), places, chosen, gold)


def room_for(count: int, share: float) -> int:
    """How many of `count` pieces may be chosen at most, where each is with probability `share`.

    >>> room_for(2048, 0.15), room_for(3, 1.0)
    (372, 3)
    """
    return min(count, math.ceil(share * count + SPARE * math.sqrt(count * share * (1 - share))))
