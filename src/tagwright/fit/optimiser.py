"""The optimiser: AdamW, or row Adagrad where the gradients are sparse rows; plain SGD. Biases and norms never decay."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from tagwright.errors import SettingsError
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
    layer_decay: float = 1.0,
    depths: Mapping[Tensor, int] | None = None,
) -> torch.optim.Optimizer:
    """The optimiser of a network's parameters; `sparse` where its head has row-sparse gradients, means over `batch`.

    A parameter that lies below `depths` layers is trained at the rate times `layer_decay` to that power.
    """
    if layer_decay != 1 and depths is None:
        raise SettingsError("fit.layer_decay is for pretrained encoders; this one has no layers to tell apart")
    trained = [p for p in network.parameters() if p.requires_grad]
    if name == "sgd":
        return RowSGD(trained, lr=learning_rate, weight_decay=weight_decay)
    if sparse:
        return RowAdagrad(trained, lr=learning_rate, floor=1 / batch)
    depth_of = {} if depths is None or layer_decay == 1 else depths
    groups = []
    for depth in sorted({depth_of.get(p, 0) for p in trained}):  # the first has the full rate, which is shown
        own, rate = [p for p in trained if depth_of.get(p, 0) == depth], learning_rate * layer_decay**depth
        groups.append({"params": [p for p in own if p.ndim > 1], "lr": rate, "weight_decay": weight_decay})
        groups.append({"params": [p for p in own if p.ndim <= 1], "lr": rate, "weight_decay": 0.0})
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate, fused=True)
