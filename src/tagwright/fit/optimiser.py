"""The optimiser: AdamW, without decay on biases and norms; rows of sparse gradients have their own."""

import torch
from torch import nn


def build_optimiser(network: nn.Module, *, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """AdamW over the network's parameters."""
    decayed = [p for p in network.parameters() if p.requires_grad and p.ndim > 1]
    plain = [p for p in network.parameters() if p.requires_grad and p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate)
