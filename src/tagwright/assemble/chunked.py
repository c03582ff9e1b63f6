"""What is different where a head takes its labels in chunks: how its loss is asked for, and what moves its matrix."""

from typing import Any

from torch import Tensor

from tagwright.batches.rows import Batch
from tagwright.fit._together import Optimiser
from tagwright.fit.optimiser import build_optimiser
from tagwright.network import Network
from tagwright.objective import Objective
from tagwright.settings import Settings
from tagwright.shortlist import shortlisted


def chunked_loss(network: Network, objective: Objective, batch: Batch) -> Tensor:
    """The objective of a batch with sparse targets; the logits are never made."""
    head: Any = network.heads["main"]
    return objective.linear(
        network.hidden(*batch.inputs),
        head.linear.weight,
        head.linear.bias,
        batch.target,  # type: ignore[arg-type]
        chunk=head.chunk,
        known=batch.known,  # type: ignore[arg-type]
        example_weight=batch.weight,
    )


def optimiser_of(network: Network, settings: Settings) -> Optimiser:
    """AdamW, but for a label matrix too large for its state: of so many labels, of bfloat16, or by the settings."""
    choice, head = settings.fit, settings.head.options
    main: Any = network.heads["main"]
    asked = head.get("optimiser", "auto")
    large = head.get("dtype") == "bfloat16" or shortlisted(settings.head, main.label_count)
    return build_optimiser(
        network,
        name=choice.optimiser,
        learning_rate=choice.learning_rate,
        weight_decay=choice.weight_decay,
        batch=choice.batch,
        sparse=network.encoder.sparse,
        labels=main.linear if asked == "row_adagrad" or (asked == "auto" and large) else None,
        label_rate=head.get("learning_rate", 0.0),  # a head for tokens has no such matrix
        seed=choice.seed,
        layer_decay=choice.layer_decay,
        depths=network.encoder.depths(),
        beta2=choice.beta2,
        epsilon=choice.epsilon,
    )
