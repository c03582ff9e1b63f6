"""The optimiser: AdamW, or row Adagrad where the gradients are sparse rows; plain SGD. Biases and norms never decay."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tagwright.fit._label_adagrad import LabelAdagrad
from tagwright.fit._row_adagrad import RowAdagrad
from tagwright.fit._row_sgd import RowSGD
from tagwright.fit._together import Optimiser, Together


def build_optimiser(
    network: nn.Module,
    *,
    name: str = "auto",
    learning_rate: float,
    weight_decay: float,
    batch: int,
    sparse: bool = False,
    labels: nn.Module | None = None,
    label_rate: float = 0.3,
    seed: int = 0,
) -> Optimiser:
    """The optimiser of a network's parameters; `sparse` where its head has row-sparse gradients, means over `batch`.

    `labels` is a label matrix to be moved by Adagrad with one number of state a label, at its own rate.
    """
    apart = set() if labels is None else set(labels.parameters())
    trained = [p for p in network.parameters() if p.requires_grad and p not in apart]
    if name == "sgd":
        return RowSGD(trained, lr=learning_rate, weight_decay=weight_decay)
    if sparse:
        return RowAdagrad(trained, lr=learning_rate, floor=1 / batch)
    encoder = _adamw(trained, learning_rate, weight_decay)
    if labels is None:
        return encoder
    return Together([encoder, LabelAdagrad(labels.parameters(), lr=label_rate, floor=1 / batch, seed=seed)])


def _adamw(trained: Sequence[Tensor], learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate, fused=True)
