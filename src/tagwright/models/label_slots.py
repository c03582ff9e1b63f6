"""What a head with label slots learns of its encoder before it is made: room, families, and where
slots start.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.models.encoders import Encoder
from tagwright.settings.schema import Choice
from tagwright.tokenizers import Tokenizer

# facts of an encoder that is not there yet, or that reads no slots
NO_SLOTS: dict[str, object] = {
    "reads_slots": False,
    "slot_room": None,
    "family": "bert",
    "word_width": None,
    "name_vectors": None,
}


def slot_facts(
    encoder: Encoder, head: Choice, space: LabelSpace, tokenizer: Tokenizer | None
) -> dict[str, object]:
    """What a head with slots wants to know of its encoder: nothing where this reads none."""
    if not registry.find(registry.HEADS, head.name).factory.has_slots or not encoder.reads_slots:
        return NO_SLOTS
    facts = {
        **NO_SLOTS,
        "reads_slots": True,
        "slot_room": encoder.slot_room,
        "family": encoder.family,
    }
    facts["word_width"] = encoder.words.embedding_dim
    wanted, template = (head.options.get(name) for name in ("names", "template"))
    if tokenizer is not None and wanted is not False and template != "same":
        facts["name_vectors"] = name_vectors(
            encoder.words.weight, space.names, tokenizer, every=wanted is True
        )
    return facts


def name_vectors(
    words: Tensor, names: Sequence[str], tokenizer: Tokenizer, *, every: bool = True
) -> Tensor:
    """The mean vector (L, E) of the pieces of each label's name, of vectors (V, E) of all pieces.

    A name without a word has 0 for it, or is an error where `every` one must have some.
    """
    said = [" ".join(re.findall(r"[^\W_]+", name)) for name in names]
    empty = [name for name, text in zip(names, said) if not text]
    if empty and every:
        raise SettingsError(
            f"{len(empty)} of the labels have no word in their name, such as {empty[0]!r}, so"
            " head.names has nothing to start their slots from; leave it out or rename them"
        )
    tokens = tokenizer.encode_tokens(pa.array(said))
    owners = torch.from_numpy(np.repeat(np.arange(len(names)), tokens.lengths))
    ids = torch.from_numpy(tokens.ids.astype(np.int64))
    sums = (
        words.detach()
        .new_zeros(len(names), words.shape[1])
        .index_add(0, owners, words.detach()[ids])
    )
    # a tokenizer may make an unknown word of nothing
    worded = torch.tensor([bool(text) for text in said])[:, None]
    return torch.where(worded, sums / torch.from_numpy(tokens.lengths)[:, None].clamp(min=1), 0.0)
