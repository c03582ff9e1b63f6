"""What a step learns from: a pass over a batch, and the objectives of what came out. Regularizers
stand around it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import torch
from torch import Tensor

from tagwright import registry
from tagwright.batches.rows import Batch
from tagwright.losses import SparseTarget
from tagwright.models.hidden import Hidden
from tagwright.models.network import Network, soft_head
from tagwright.settings.schema import Settings
from tagwright.training.head_objective import HeadObjective


class BatchLoss(NamedTuple):
    """The objective of a batch, summed over its examples, and what it was made of: one row a row of
    the batch.
    """

    value: Tensor  # ()
    logits: dict[str, Tensor]  # of every head
    hidden: Hidden


Learn = Callable[[Batch, torch.Generator], BatchLoss]


class Learner:
    """One pass, and the objectives of its heads."""

    def __init__(self, network: Network, objectives: Mapping[str, HeadObjective]) -> None:
        self.network, self.objectives = network, objectives

    def __call__(self, batch: Batch, generator: torch.Generator) -> BatchLoss:
        """The sum over heads; one that takes its labels in chunks never makes its logits."""
        chunked = [
            name for name, head in batch.heads.items() if isinstance(head.target, SparseTarget)
        ]
        hidden, logits = self.network.run(*batch.inputs, shown=batch.shown, without=chunked)
        values: list[Tensor] = []
        for name, objective in self.objectives.items():
            own = batch.heads[name]
            if name in chunked:
                value = objective.in_chunks(hidden.pooled, self.network.heads[name], own)
            else:
                soft = logits.get(soft_head(name))
                value = objective(logits[name], own, soft_logits=soft, generator=generator)
            values.append(value)
        return BatchLoss(reduce(add, values), logits, hidden)


def slots_drawn(network: Network, batch: Batch, generator: torch.Generator) -> Batch:
    """The batch with what its slots show in this step, where a head has slots."""
    name = network.slotted
    if name is None:
        return batch
    head, own = network.heads[name], batch.heads[name]
    shown = head.draw(own.target, own.known, generator)  # type: ignore[arg-type]
    return batch._replace(heads={**batch.heads, name: own._replace(shown=shown)})


def check_regularizers(settings: Settings, heads: Sequence[Settings]) -> None:
    """Refuse those that have nothing to hold to here; `heads` are the settings of each head."""
    for choice in settings.regularize:
        factory = registry.find(registry.REGULARIZERS, choice.name).factory
        factory.check(*heads, **{**registry.options(factory), **choice.options})


def learner_of(
    network: Network, objectives: Mapping[str, HeadObjective], settings: Settings
) -> Learn:
    """The learner with the regularizers of the settings around it; those that change what is read
    stand outermost.
    """
    learn: Learn = Learner(network, objectives)
    made = [
        (registry.find(registry.REGULARIZERS, choice.name).factory.depth, choice)
        for choice in settings.regularize
    ]
    for _, choice in sorted(made, key=lambda pair: pair[0]):
        known = {"learn": learn, "network": network, "objectives": objectives}
        learn = registry.build(registry.REGULARIZERS, choice.name, choice.options, **known)
    return learn
