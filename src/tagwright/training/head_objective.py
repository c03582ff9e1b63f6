"""What each head of a network learns by: its objective, and what its loss weighs beside those of
the other heads.
"""

import torch
from torch import Tensor, nn

from tagwright.batches.rows import HeadBatch
from tagwright.losses import SparseMask, SparseTarget
from tagwright.models.device import device_of
from tagwright.models.heads import Head
from tagwright.models.heads.cloze_slots import MASK
from tagwright.objective import Objective, build_objective
from tagwright.settings.schema import Settings
from tagwright.training.prepared import Prepared


class HeadObjective(nn.Module):
    """The objective of one head, times `weight`. `link` makes probabilities of its logits.

    A head that `tags_tokens` has logits (B, T, L), every token with a tag counts. What is asked of
    texts without an answer too, such as that two passes agree, weighs `of_any_text`; None: as the
    objective does.
    """

    def __init__(
        self,
        objective: Objective,
        *,
        link: str,
        tags_tokens: bool = False,
        weight: float = 1.0,
        of_any_text: float | None = None,
    ) -> None:
        super().__init__()
        self.objective, self.link, self.tags_tokens, self.weight = (
            objective,
            link,
            tags_tokens,
            weight,
        )
        self.of_any_text = weight if of_any_text is None else of_any_text

    @property
    def batchwise(self) -> bool:
        """Whether its loss looks at a whole batch."""
        return self.objective.loss.batchwise

    def forward(
        self,
        logits: Tensor,
        batch: HeadBatch,
        *,
        soft_logits: Tensor | None = None,
        generator: torch.Generator | None,
    ) -> Tensor:
        """The sum over examples. Slots of labels that the batch shows take no part: their answer
        stands there.
        """
        known, weight = batch.known, batch.weight
        if batch.tags is not None:
            return self._weighed(
                self.objective.of_tokens(logits, batch.tags, weight=weight, generator=generator)
            )
        if batch.shown is not None:
            averaged = self.objective.loss.labels == "mean"
            known, weight = _of_masked(batch, batch.shown, logits.dtype, averaged=averaged)
        value = self.objective(
            logits,
            batch.target,
            known=known,
            example_weight=weight,
            generator=generator,
            soft=batch.soft,
            soft_logits=soft_logits,
            excused=batch.excused,
        )
        return self._weighed(value)

    def in_chunks(self, hidden: Tensor, head: Head, batch: HeadBatch) -> Tensor:
        """The same of sparse targets, for a head that takes its labels in chunks: the logits are
        never made.
        """
        target: SparseTarget = batch.target  # type: ignore[assignment]
        value = self.objective.linear(
            hidden,
            head.linear.weight,
            head.linear.bias,
            target,
            chunk=head.chunk,
            known=batch.known if isinstance(batch.known, SparseMask) else None,
            example_weight=batch.weight,
        )
        return self._weighed(value)

    def _weighed(self, value: Tensor) -> Tensor:
        return value if self.weight == 1 else self.weight * value


def _of_masked(
    batch: HeadBatch, shown: Tensor, dtype: torch.dtype, *, averaged: bool
) -> tuple[Tensor, Tensor | None]:
    """What is known (B, L), and the weights of texts (B,) or their labels (B, 1): slots that show
    their answer take no part, nor do they in the mean over a text's labels.
    """
    masked, weight = shown == MASK, batch.weight
    known = masked & batch.known if isinstance(batch.known, Tensor) else masked
    if averaged:
        share = masked.shape[1] / masked.sum(1).clamp(min=1).to(
            torch.promote_types(dtype, torch.float32)
        )
        weight = share if weight is None else share * weight
    return known, weight


def objectives_of(prepared: Prepared, settings: Settings) -> dict[str, HeadObjective]:
    """What each head learns by, on the run's device.

    A step divides by what its rows count: texts, or tokens where every head tags these. Every head
    weighs as its setting says, so one that has answers for a tenth of them weighs each of its
    answers ten times. A loss of a whole batch of texts is a mean as it is.
    """
    found, counted = {}, prepared.counted
    for name, head in prepared.heads.items():
        own, weight = settings.of(name), settings.weight_of(name)
        objective = build_objective(own, head.space, row_count=head.examples)
        a_mean = objective.loss.batchwise and not head.tags_tokens
        balanced = (
            weight if a_mean or head.examples == counted else weight * counted / head.examples
        )
        of_any = balanced if head.tags_tokens else weight
        made = HeadObjective(
            objective,
            link=own.link,
            tags_tokens=head.tags_tokens,
            weight=balanced,
            of_any_text=of_any,
        )
        found[name] = made.to(device_of(settings))
    return found
