"""Masked-language modelling of the texts beside the task, eq. 5 of LM-MTC
(arxiv.org/abs/2106.10076).

Some pieces are hidden, and the encoder learns to tell them from the others. Takes a pretrained
encoder.
"""

import math

import torch
from torch import Tensor

from tagwright.batches.rows import Batch
from tagwright.errors import SettingsError
from tagwright.models.heads.mlm import MASKED, MaskedPieces
from tagwright.models.network import Network
from tagwright.models.precision import in_bfloat16
from tagwright.training.learner import BatchLoss, Learn
from tagwright.training.regularizers import Regularizer
from tagwright.training.regularizers._hide import hide


class MaskedModelling(Regularizer):
    """The task's objective plus `weight` times that of the pieces, of which each is chosen with
    probability `share`.

    The encoder reads the changed texts alone, so that the task is learnt from them, too. A row
    counts the mean over its chosen pieces; a window of a text counts its part of the text.
    """

    depth = 2  # it changes what is read

    def __init__(
        self, learn: Learn, network: Network, *, weight: float = 0.05, share: float = 0.15
    ) -> None:
        require_sound(weight=weight, share=share)
        self.learn, self.encoder, self.weight, self.share = learn, network.encoder, weight, share
        self.head: MaskedPieces = network.heads[MASKED]  # type: ignore[assignment]

    def __call__(self, batch: Batch, generator: torch.Generator) -> BatchLoss:
        """The outcome of the changed texts, with the pieces' objective in its value."""
        ids, lengths, *others = batch.inputs
        asked = hide(ids, lengths, self.head, share=self.share, generator=generator)
        if (
            ids.device.type == "cpu"
        ):  # what is on the host can be looked at; a GPU would have to be waited for
            asked = asked.chosen_alone()
        outcome = self.learn(batch._replace(inputs=(asked.ids, lengths, *others)), generator)
        states = outcome.hidden.states.flatten(0, 1).index_select(0, asked.places)  # type: ignore[union-attr]
        half = in_bfloat16(self.encoder.precision, ids.device)
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=half):
            losses = self.head.losses(states, self.encoder.words.weight, asked.gold)
        value = (losses * asked.weights(row_weights(batch, losses.dtype))).sum()
        return outcome._replace(value=outcome.value + self.weight * value)


def row_weights(batch: Batch, dtype: torch.dtype) -> Tensor:
    """What each row of ids counts, (B,): as a text does in the task's objective, divided among its
    windows.

    Where tokens alone are tagged, the objective is a sum over tokens: a row then counts as often as
    it has tags.
    """
    ids, _, *counts = batch.inputs
    texts = counts[0] if counts else ids
    weight = torch.ones(len(texts), device=ids.device) if batch.weight is None else batch.weight
    weight = weight.to(dtype)
    tags = [head.tags for head in batch.heads.values() if head.tags is not None]
    if len(tags) == len(batch.heads):
        weight = weight * torch.stack([ids >= 0 for ids in tags]).any(0).sum(1)
    return (
        (weight / counts[0]).repeat_interleave(counts[0], output_size=len(ids))
        if counts
        else weight
    )


def require_sound(*, weight: float, share: float) -> None:
    """Refuse settings that nothing can be learnt by."""
    if not 0 <= weight < math.inf:
        raise SettingsError(f"mlm.weight must be a number of at least 0, got {weight}")
    if not 0 < share <= 1:
        raise SettingsError(f"mlm.share must be above 0 and at most 1, got {share}")


PART = MaskedModelling
