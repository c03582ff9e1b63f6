"""Slots before a text: what a pretrained model reads where some of its input are not pieces but
given vectors.
"""

from inspect import signature

import torch
from torch import Tensor, nn

from tagwright.errors import SettingsError
from tagwright.models.hidden import Slots

# families that know where a token stands by its position alone, not by its neighbors in the row
BY_POSITION = {
    "bert",
    "roberta",
    "xlm-roberta",
    "camembert",
    "electra",
    "distilbert",
    "albert",
    "mpnet",
}


def check(family: str, *, shared: bool, one_way: bool) -> None:
    """Refuse what a family of encoders cannot do with slots."""
    if family in BY_POSITION:
        return
    wanted = [
        name
        for name, asked in (("slot_positions=shared", shared), ("text_sees_slots=false", one_way))
        if asked
    ]
    if wanted:
        raise SettingsError(
            f"head.{wanted[0]} is not possible with {family}, which knows tokens by their distance"
            f" in the row; take an encoder of the families {', '.join(sorted(BY_POSITION))}"
        )


def readable(model: nn.Module) -> bool:
    """Whether a model takes vectors and positions in the place of words."""
    return {"inputs_embeds", "position_ids"} <= signature(model.forward).parameters.keys()


def vectors_with(slots: Slots, ids: Tensor, words: nn.Module, *, before: int) -> Tensor:
    """Vectors (B * passes, S + T, E): the first `before` pieces of a text, the slots, and the rest
    of the text.
    """
    text = words(ids)
    if slots.passes > 1:
        text = text.repeat_interleave(slots.passes, 0)
    return torch.cat([text[:, :before], slots.vectors.to(text.dtype), text[:, before:]], 1)


def places_of(slots: Slots, width: int, *, before: int) -> Tensor:
    """The position of each token (S + T,) in rows of `width` pieces."""
    pieces = torch.arange(width, device=slots.places.device)
    return torch.cat([pieces[:before], before + slots.places, pieces[before:] + slots.room])


def one_way(slots: Slots, inside: Tensor, *, before: int) -> Tensor:
    """What each token may look at, bool (B, 1, N, N), given which are inside a row (B, N).

    A text looks at itself alone; a slot looks at the text and at the slots of its own group.
    """
    count, size = slots.vectors.shape[1], slots.vectors.shape[1] // slots.groups
    group = inside.new_full((inside.shape[1],), -1, dtype=torch.int64)  # -1: the text
    group[before : before + count] = torch.arange(count, device=inside.device) // size
    seen = (group[None] == group[:, None]) | (group[None] == -1)
    return (seen & inside[:, None])[:, None]


def apart(states: Tensor, slots: Slots, *, before: int) -> tuple[Tensor, Tensor]:
    """States (B * passes, N, D) -> those of the text (B, T, D), of its first pass, and of the
    slots.
    """
    end = before + slots.vectors.shape[1]
    text = torch.cat([states[:: slots.passes, :before], states[:: slots.passes, end:]], 1)
    return text, states[:, before:end]
