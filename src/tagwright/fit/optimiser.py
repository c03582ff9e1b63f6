"""The optimiser: AdamW, or row Adagrad where the gradients are sparse rows; plain SGD. Biases and norms never decay."""

import torch
from torch import nn

from tagwright.fit._row_adagrad import RowAdagrad
from tagwright.fit._row_sgd import RowSGD


def build_optimiser(
    network: nn.Module,
    *,
    name: str = "auto",
    learning_rate: float,
    weight_decay: float,
    batch: int,
    sparse: bool = False,
) -> torch.optim.Optimizer:
    """The optimiser of a network's parameters; `sparse` where its head has row-sparse gradients, means over `batch`."""
    trained = [p for p in network.parameters() if p.requires_grad]
    if name == "sgd":
        return RowSGD(trained, lr=learning_rate, weight_decay=weight_decay)
    if sparse:
        return RowAdagrad(trained, lr=learning_rate, floor=1 / batch)
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate, fused=True)
