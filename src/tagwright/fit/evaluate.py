"""Logits of many rows: in batches of like length, back in the rows' own order."""

import numpy as np
import torch

from tagwright.batches.bucket import plan
from tagwright.batches.inputs import Inputs
from tagwright.network import Network


@torch.inference_mode()
def logits_of(network: Network, inputs: Inputs, *, head: str = "main", batch: int = 256) -> np.ndarray:
    """Logits (n, L), float32, on the host. Leaves the network in evaluation mode."""
    network.eval()
    device = next(network.parameters()).device
    result: np.ndarray | None = None
    rooms = getattr(inputs, "rooms", {})  # tokens of a batch, where texts differ much in length
    room = rooms.get(device.type, rooms.get("other"))
    for index in plan(inputs.lengths, batch=batch, seed=0, epoch=0, shuffle=False, room=room):
        tensors = (tensor.to(device, non_blocking=True) for tensor in inputs.batch(index))
        logits = network.of_labels(*tensors)[head].float().cpu().numpy()
        if result is None:
            result = np.empty((len(inputs.lengths), logits.shape[1]), np.float32)
        result[index] = logits
    return np.empty((0, 0), np.float32) if result is None else result
