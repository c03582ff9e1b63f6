"""What moves the weights of a network, very large label matrices by themselves."""

from collections.abc import Iterable
from typing import Any

from torch import nn

from tagwright.models.network import Network
from tagwright.models.shortlist import shortlisted
from tagwright.settings.schema import Settings
from tagwright.training.optimizers.optimizer import build_optimizer
from tagwright.training.optimizers.together import Optimizer


def optimizer_of(network: Network, settings: Settings, heads: Iterable[str]) -> Optimizer:
    """AdamW, but for label matrices of these heads that are too large for its state: of so many
    labels, of bfloat16, or by the settings."""
    choice = settings.fit
    return build_optimizer(
        network,
        name=choice.optimizer,
        learning_rate=choice.learning_rate,
        weight_decay=choice.weight_decay,
        batch=choice.batch,
        sparse=network.encoder.sparse,
        labels=_large(network, settings, heads),
        seed=choice.seed,
        layer_decay=choice.layer_decay,
        depths=network.encoder.depths(),
        beta2=choice.beta2,
        epsilon=choice.epsilon,
    )


def _large(
    network: Network, settings: Settings, heads: Iterable[str]
) -> list[tuple[nn.Module, float]]:
    """The label matrices that are too large for AdamW, each with its own rate."""
    found = []
    for name in heads:
        made: Any = network.heads[name]
        own, head = settings.of(name).head, settings.of(name).head.options
        asked = head.get("optimizer", "auto")
        large = head.get("dtype") == "bfloat16" or shortlisted(own, made.label_count)
        if asked == "row_adagrad" or (asked == "auto" and large):
            found.append((made.linear, float(head["learning_rate"])))
    return found
