"""What a step learns from: a pass over a batch, and the objective of what came out. Regularisers stand around it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tagwright import parts
from tagwright.batches.rows import Batch
from tagwright.encoders.hidden import Hidden
from tagwright.heads._cloze import MASK
from tagwright.network import Network
from tagwright.objective import Objective
from tagwright.sections import REGULARISE
from tagwright.settings import Settings


class Outcome(NamedTuple):
    """The objective of a batch, summed over its examples, and what it was made of: one row a row of the batch."""

    value: Tensor  # ()
    logits: dict[str, Tensor]  # of every head
    hidden: Hidden


Learn = Callable[[Batch, torch.Generator], Outcome]


class Learner:
    """One pass, and its objective."""

    def __init__(self, network: Network, objective: Objective) -> None:
        self.network, self.objective = network, objective

    def __call__(self, batch: Batch, generator: torch.Generator) -> Outcome:
        """Slots of labels that the batch shows take no part in the objective: their answer stands there."""
        hidden, logits = self.network.run(*batch.inputs, shown=batch.shown)
        return Outcome(self._value(logits, batch, generator), logits, hidden)

    def _value(self, logits: Mapping[str, Tensor], batch: Batch, generator: torch.Generator) -> Tensor:
        objective, weight = self.objective, batch.weight
        if batch.tags is not None and objective.tagging is None:
            return objective.of_tokens(logits["main"], batch.tags, weight=weight, generator=generator)
        facts: dict[str, Any] = {"excused": batch.excused, "soft": batch.soft, "soft_logits": logits.get("soft")}
        facts |= {"known": batch.known, "example_weight": weight, "generator": generator}
        if batch.shown is not None:
            averaged = objective.loss.labels == "mean"
            facts |= _of_masked(batch, logits["main"].dtype, averaged=averaged)
        value: Tensor = objective(logits["main"], batch.target, **facts)
        if objective.tagging is None:
            return value
        return value + objective.tagging(logits["tags"], batch.tags, weight=weight, generator=generator)


def _of_masked(batch: Batch, dtype: torch.dtype, *, averaged: bool) -> dict[str, Any]:
    """Slots that show their answer take no part, nor do they in the mean over a text's labels."""
    shown: Any = batch.shown
    masked, weight = shown == MASK, batch.weight
    known = masked if batch.known is None else masked & batch.known
    if averaged:
        share = masked.shape[1] / masked.sum(1).clamp(min=1).to(torch.promote_types(dtype, torch.float32))
        weight = share if weight is None else share * weight
    return {"known": known, "example_weight": weight}


def slots_drawn(network: Network, batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with what its slots show in this step, where the head has slots."""
    main: Any = network.heads["main"]
    return batch._replace(shown=main.draw(batch.target, batch.known, generator)) if main.has_slots else batch


def check_regularisers(settings: Settings, *beside: Settings) -> None:
    """Refuse those that have nothing to hold to here; `beside` are the settings of further heads."""
    for choice in settings.regularise:
        factory = parts.find(REGULARISE, choice.name).factory
        factory.check(settings, *beside, **{**parts.options(factory), **choice.options})


def learner_of(network: Network, objective: Objective, settings: Settings, facts: Mapping[str, Any]) -> Learn:
    """The learner with the regularisers of the settings around it; those that change what is read stand outermost."""
    learn: Learn = Learner(network, objective)
    made = [(parts.find(REGULARISE, choice.name).factory.depth, choice) for choice in settings.regularise]
    for _, choice in sorted(made, key=lambda pair: pair[0]):
        known = {"learn": learn, "network": network, "objective": objective, **facts}
        learn = parts.build(REGULARISE, choice.name, choice.options, **known)
    return learn
