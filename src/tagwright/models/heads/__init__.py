"""Heads: hidden vectors in, logits out. `Head` is what they have in common."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from tagwright.arrays import Ints
from tagwright.registry import Kind

if TYPE_CHECKING:
    from tagwright.models.heads._sparse_linear import SparseLinear
    from tagwright.models.hidden import Slots

__all__ = ["KIND", "Head"]


class Head(nn.Module):
    """What every head derives from: the encoder's `Hidden` in, logits out.

    `forward(hidden)` gives logits (B, L), or (B, L + 1) for a loss with a logit beside the labels.
    A head that `tags_tokens` gives (B, T, L).
    """

    label_count: int  # L
    zero: float  # the loss's threshold
    tags_tokens: ClassVar[bool] = False  # its logits are of tokens, not of whole texts
    beside: ClassVar[bool] = False  # it serves in training alone, and the network does not call it
    has_slots: ClassVar[bool] = False  # its labels are read as slots before the text: `slots_of`
    rounds: int = 1  # passes of a prediction; a head of several has `filled`
    chunk: int = 0  # labels that the loss takes at a time, with `linear` the label matrix; 0: all
    linear: "nn.Linear | SparseLinear"
    shortlist: int  # labels that are scored where they come in chunks

    def of_labels(self, logits: Tensor) -> Tensor:
        """The logits of labels alone (…, L), so that 0 is the loss's own threshold."""
        return logits

    def slots_of(self, inputs: tuple[Tensor, ...], shown: Tensor | None) -> "Slots | None":
        """What the encoder reads before these texts; `shown` (B, L) is what each slot shows."""
        return None

    def draw(
        self, target: Tensor, known: Tensor | None, generator: torch.Generator | None
    ) -> Tensor | None:
        """What the slots show in a step of training (B, L); None where all are hidden."""
        return None

    def filled(self, run: Callable[[Tensor | None], Tensor]) -> Tensor:
        """Logits (B, L) in `rounds` passes; `run(shown)` makes one."""
        return run(None)

    def tokens_of(self, lengths: Ints, windows: Ints | int = 1) -> Ints:
        """How many tokens the encoder reads for texts of these lengths (n,), read in `windows`
        (n,).
        """
        return lengths

    def before(self, label: int) -> Ints:
        """Ids of the labels whose decisions this label looks at."""
        return np.empty(0, np.int64)


KIND = Kind(
    title="head",
    facts={
        "width": "the width of the encoder's answer",
        "sparse": "whether the encoder's answer is sparse rows",
        "whole_texts": "whether the encoder has no states of tokens",
        "label_count": "how many labels there are",
        "label_names": "the names of the labels",
        "bias": "where the labels' logits start, (L,)",
        "extra_logits": "how many logits the loss wants beside those of the labels",
        "zero": "the loss's threshold: logits above it speak for a label",
        "link": "how the loss makes probabilities of logits",
        "reads_slots": "whether the encoder reads slots before a text",
        "slot_room": "how many positions slots may take; None: any number",
        "family": "the kind of pretrained model that the encoder is",
        "word_width": "the width of the encoder's word vectors, or None",
        "name_vectors": "vectors of the labels' names (L, E), or None",
    },
    base=Head,
)
