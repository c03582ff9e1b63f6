"""The optimizer: AdamW, or row Adagrad where the gradients are sparse rows; plain SGD. Biases and
norms never decay.
"""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from tagwright.errors import SettingsError
from tagwright.models.network import Network
from tagwright.models.shortlist import shortlisted
from tagwright.settings.schema import Settings
from tagwright.training.optimizers.joint import JointOptimizer, Optimizer
from tagwright.training.optimizers.label_adagrad import LabelAdagrad
from tagwright.training.optimizers.row_adagrad import RowAdagrad
from tagwright.training.optimizers.row_sgd import RowSGD


def build_optimizer(
    network: nn.Module,
    *,
    name: str = "auto",
    learning_rate: float,
    weight_decay: float,
    batch: int,
    sparse: bool = False,
    labels: Sequence[tuple[nn.Module, float]] = (),
    seed: int = 0,
    layer_decay: float = 1.0,
    depths: Mapping[Tensor, int] | None = None,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> Optimizer:
    """The optimizer of a network's parameters; `sparse` where its head has row-sparse gradients,
    means over `batch`.

    `labels` are label matrices to be moved by Adagrad with one number of state a label, each at its
    rate. A parameter that lies below `depths` layers is trained at the rate times `layer_decay` to
    that power.
    """
    if layer_decay != 1 and depths is None:
        raise SettingsError(
            "fit.layer_decay is for pretrained encoders; this one has no layers to tell apart"
        )
    apart = {parameter for matrix, _ in labels for parameter in matrix.parameters()}
    trained = [p for p in network.parameters() if p.requires_grad and p not in apart]
    if name == "sgd":
        return RowSGD(trained, lr=learning_rate, weight_decay=weight_decay)
    if sparse:
        return RowAdagrad(trained, lr=learning_rate, floor=1 / batch)
    encoder = _adamw(
        trained,
        learning_rate,
        weight_decay,
        layer_decay,
        depths or {},
        beta2=beta2,
        epsilon=epsilon,
    )
    if not labels:
        return encoder
    moved = [
        LabelAdagrad(matrix.parameters(), lr=rate, floor=1 / batch, seed=seed)
        for matrix, rate in labels
    ]
    return JointOptimizer([encoder, *moved])


def _adamw(
    trained: Sequence[Tensor],
    learning_rate: float,
    weight_decay: float,
    layer_decay: float,
    depths: Mapping[Tensor, int],
    *,
    beta2: float,
    epsilon: float,
) -> torch.optim.Optimizer:
    depth_of = {} if layer_decay == 1 else depths
    groups = []
    for depth in sorted(
        {depth_of.get(p, 0) for p in trained}
    ):  # the first has the full rate, which is shown
        own, rate = (
            [p for p in trained if depth_of.get(p, 0) == depth],
            learning_rate * layer_decay**depth,
        )
        groups.append(
            {"params": [p for p in own if p.ndim > 1], "lr": rate, "weight_decay": weight_decay}
        )
        groups.append({"params": [p for p in own if p.ndim <= 1], "lr": rate, "weight_decay": 0.0})
    return torch.optim.AdamW(
        [g for g in groups if g["params"]],
        lr=learning_rate,
        betas=(0.9, beta2),
        eps=epsilon,
        fused=True,
    )


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
    found: list[tuple[nn.Module, float]] = []
    for name in heads:
        made = network.heads[name]
        own, head = settings.of(name).head, settings.of(name).head.options
        asked = head.get("optimizer", "auto")
        large = head.get("dtype") == "bfloat16" or shortlisted(own, made.label_count)
        if asked == "row_adagrad" or (asked == "auto" and large):
            found.append((made.linear, float(head["learning_rate"])))
    return found
