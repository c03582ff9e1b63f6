"""How far two answers to one batch lie apart: a divergence for every text, by the loss's own link."""

from collections.abc import Callable, Mapping

from torch import Tensor, nn

from tagwright.batches.rows import Batch
from tagwright.heads._cloze import MASK
from tagwright.objective import Objective

Measure = Callable[..., Tensor]  # `kl` or `symmetric_kl`
Logits = Mapping[str, Tensor]


class Apart:
    """By `link`, that of the loss, and by `tag_link`, that of the tags' loss where tokens are tagged beside labels.

    Slots that show their answer take no part, for nobody need agree on it. Labels that nobody judged do: to agree on
    one, no answer is needed. A second head for soft labels does not: it predicts nothing.
    """

    def __init__(self, measure: Measure, objective: Objective, link: str, tag_link: str | None) -> None:
        self.measure, self.objective, self.link, self.tag_link = measure, objective, link, tag_link

    def __call__(self, logits: Logits, other: Logits, batch: Batch) -> Tensor:
        """Logits of every head, twice -> (B,); a text of tags has the sum over its tokens."""
        objective, tagging = self.objective, self.objective.tagging
        main = logits["main"], other["main"]
        if batch.tags is not None and tagging is None:
            return self._of_tokens(*main, batch.tags, objective.loss, self.link)
        mask = None if batch.shown is None else batch.shown == MASK
        found = self._summed(*main, objective.loss, self.link, mask)
        if tagging is None:
            return found
        tags = logits["tags"], other["tags"], batch.tags, tagging.objective.loss, self.tag_link
        return found + tagging.weight * self._of_tokens(*tags)  # type: ignore[arg-type]

    def total(self, logits: Logits, other: Logits, batch: Batch) -> Tensor:
        """The sum over texts, each by its weight."""
        found = self(logits, other, batch)
        return (found if batch.weight is None else found * batch.weight).sum()

    def _of_tokens(self, logits: Tensor, other: Tensor, tags: Tensor, loss: nn.Module, link: str) -> Tensor:
        """Logits (B, T, L) twice and tags (B, T) -> (B,); positions below 0 are asked for nothing."""
        found = self._summed(logits.flatten(0, 1), other.flatten(0, 1), loss, link)
        return found.view(tags.shape).masked_fill(tags < 0, 0).sum(1)

    def _summed(self, logits: Tensor, other: Tensor, loss: nn.Module, link: str, mask: Tensor | None = None) -> Tensor:
        """(N, L) twice -> (N,): the sum over labels, or their mean where the loss is a mean over labels."""
        found = self.measure(logits, other, link=link, mask=mask)
        return found / logits.shape[-1] if loss.over_labels == "means" else found
