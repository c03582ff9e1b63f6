"""How far two answers to one batch lie apart: a divergence for every text, by the loss's own
link.
"""

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor

from tagwright.batches.rows import Batch, HeadBatch
from tagwright.models.heads.cloze_slots import MASK
from tagwright.training.head_objective import HeadObjective

Logits = Mapping[str, Tensor]


class Measure(Protocol):
    """A divergence: `kl` or `symmetric_kl`."""

    def __call__(
        self, logits: Tensor, other: Tensor, *, link: str, mask: Tensor | None = None
    ) -> Tensor:
        """Logits (N, L) twice -> (N,)."""


class Divergence:
    """Of every head by the link of its loss, as much as the head weighs.

    Slots that show their answer take no part, for nobody need agree on it. Labels that nobody
    judged do: to agree on one, no answer is needed. A second head for soft labels does not: it
    predicts nothing.
    """

    def __init__(self, measure: Measure, objectives: Mapping[str, HeadObjective]) -> None:
        self.measure, self.objectives = measure, objectives

    def __call__(self, logits: Logits, other: Logits, batch: Batch) -> Tensor:
        """Logits of every head, twice -> (B,); a text of tags has the sum over its tokens."""
        found = None
        for name, head in self.objectives.items():
            own = self._of_head(logits[name], other[name], batch.heads[name], head)
            own = own if head.of_any_text == 1 else head.of_any_text * own
            found = own if found is None else found + own
        return found  # type: ignore[return-value]

    def _of_head(
        self, logits: Tensor, other: Tensor, batch: HeadBatch, head: HeadObjective
    ) -> Tensor:
        if batch.tags is not None:
            return self._of_tokens(logits, other, batch.tags, head)
        mask = None if batch.shown is None else batch.shown == MASK
        return self._summed(logits, other, head, mask)

    def total(self, logits: Logits, other: Logits, batch: Batch) -> Tensor:
        """The sum over texts, each by its weight."""
        found = self(logits, other, batch)
        return (found if batch.weight is None else found * batch.weight).sum()

    def _of_tokens(
        self, logits: Tensor, other: Tensor, tags: Tensor, head: HeadObjective
    ) -> Tensor:
        """Logits (B, T, L) twice and tags (B, T) -> (B,); positions below 0 are asked for
        nothing.
        """
        found = self._summed(logits.flatten(0, 1), other.flatten(0, 1), head)
        return found.view(tags.shape).masked_fill(tags < 0, 0).sum(1)

    def _summed(
        self, logits: Tensor, other: Tensor, head: HeadObjective, mask: Tensor | None = None
    ) -> Tensor:
        """(N, L) twice -> (N,): the sum over labels, or their mean where the loss is a mean over
        labels.
        """
        found = self.measure(logits, other, link=head.link, mask=mask)
        return found / logits.shape[-1] if head.objective.loss.over_labels == "means" else found
