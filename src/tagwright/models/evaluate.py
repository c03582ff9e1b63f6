"""Logits, or shortlists, of many rows: in batches of like length, back in the rows' own order."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Floats, Ints
from tagwright.batches.bucket import plan
from tagwright.batches.inputs import Inputs
from tagwright.batches.token_windows import TagInputs
from tagwright.labels.shortlist import Shortlist
from tagwright.models.distributed import ALONE, Ranks
from tagwright.models.heads import Head
from tagwright.models.label_matrix.sweep import best_labels
from tagwright.models.network import Network

SHORT = 16  # tokens of a text: as many of such as there is room for are a batch


def logits_of(
    network: Network,
    inputs: Inputs,
    *,
    head: str | None = None,
    batch: int = 256,
    ranks: Ranks = ALONE,
) -> Floats:
    """Logits (n, L) of one head, float32, on the host; see `logits_of_heads`."""
    name = named_head(network, head)
    return logits_of_heads(network, inputs, [name], batch=batch, ranks=ranks)[name]


@torch.inference_mode()
def logits_of_heads(
    network: Network,
    inputs: Inputs,
    heads: Sequence[str],
    *,
    batch: int = 256,
    ranks: Ranks = ALONE,
) -> dict[str, Floats]:
    """Logits (n, L) of some heads, float32, on the host, in one pass. Leaves the network in
    evaluation mode.

    Of several processes each takes whole batches, so that all get the bits that one alone would.
    """
    network.eval()
    device, count = next(network.parameters()).device, len(inputs.lengths)
    parts = {name: network.heads[name] for name in heads}
    reads = network.heads[network.slotted or heads[0]]
    found = {name: np.zeros((count, part.label_count), np.float32) for name, part in parts.items()}
    for index in _batches(inputs, batch, device, reads)[ranks.rank :: ranks.world]:
        tensors = (tensor.to(device, non_blocking=True) for tensor in inputs.batch(index))
        logits = network.of_labels(*tensors, heads=heads)
        for name in heads:
            found[name][index] = logits[name].float().cpu().numpy()
    return {name: ranks.merged(values) for name, values in found.items()}


def token_logits_of(
    network: Network,
    inputs: TagInputs,
    *,
    head: str | None = None,
    batch: int = 256,
    ranks: Ranks = ALONE,
) -> Floats:
    """Logits (tokens, L) of one head, of every token of all texts; see `token_logits_of_heads`."""
    name = named_head(network, head)
    return token_logits_of_heads(network, inputs, [name], batch=batch, ranks=ranks)[name]


@torch.inference_mode()
def token_logits_of_heads(
    network: Network,
    inputs: TagInputs,
    heads: Sequence[str],
    *,
    batch: int = 256,
    ranks: Ranks = ALONE,
) -> dict[str, Floats]:
    """Logits (tokens, L) of some heads, of every token of all texts, float32, on the host, in one
    pass.

    Leaves the network in evaluation mode.
    """
    network.eval()
    device = next(network.parameters()).device
    parts = {name: network.heads[name] for name in heads}
    found = {
        name: np.zeros((inputs.places.token_count, part.label_count), np.float32)
        for name, part in parts.items()
    }
    for index in _batches(inputs, batch, device)[ranks.rank :: ranks.world]:
        tensors = (tensor.to(device, non_blocking=True) for tensor in inputs.batch(index))
        logits, owners = network.of_labels(*tensors, heads=heads), inputs.owners(index)
        for name in heads:
            own = logits[name].float().cpu().numpy()
            found[name][owners[owners >= 0]] = own[owners >= 0]
    return {name: ranks.merged(values) for name, values in found.items()}


@torch.no_grad()
def shortlist_of(
    network: Network,
    inputs: Inputs,
    *,
    log_terms: Callable[[Tensor], Tensor] | None = None,
    head: str | None = None,
    batch: int = 256,
    ranks: Ranks = ALONE,
) -> Shortlist:
    """The highest labels of every row, on the host; the head says how many. Leaves the network in
    evaluation mode.

    `log_terms` of the logits are what probabilities that sum to 1 need the sum of.
    """
    network.eval()
    name, device = named_head(network, head), next(network.parameters()).device
    part = network.heads[name]
    reads = network.heads[network.slotted or name]
    rows, width = len(inputs.lengths), min(part.shortlist, part.label_count)
    ids, logits = np.zeros((rows, width), np.int32), np.zeros((rows, width), np.float32)
    log_sum = None if log_terms is None else np.zeros(rows, np.float32)
    for index in _batches(inputs, batch, device, reads)[ranks.rank :: ranks.world]:
        hidden = network.hidden(
            *(tensor.to(device, non_blocking=True) for tensor in inputs.batch(index))
        )
        weight, bias = part.linear.weight, part.linear.bias - part.zero
        best = best_labels(hidden, weight, bias, width, chunk=part.chunk, log_terms=log_terms)
        ids[index], logits[index] = best.ids.cpu().numpy(), best.logits.float().cpu().numpy()
        if log_sum is not None and best.log_sum is not None:
            log_sum[index] = best.log_sum.float().cpu().numpy()
    log_sum = None if log_sum is None else ranks.merged(log_sum)
    return Shortlist(ranks.merged(ids), ranks.merged(logits), log_sum, part.label_count)


def named_head(network: Network, head: str | None) -> str:
    """The head of this name; where none is named, the first."""
    return next(iter(network.heads)) if head is None else head


def _batches(
    inputs: Inputs, batch: int, device: torch.device, head: Head | None = None
) -> list[Ints]:
    """Row numbers of each batch, texts of like length together; where texts differ much, of so many
    tokens at most.
    """
    rooms = inputs.rooms
    room = rooms.get(device.type, rooms.get("other"))
    batch = batch if room is None else max(batch, room // SHORT)
    return plan(cost_of(inputs, head), batch=batch, seed=0, epoch=0, shuffle=False, room=room)


def cost_of(inputs: Inputs, head: Head | None) -> Ints:
    """Tokens that the network reads for each text (n,); a head with slots says what these add."""
    return inputs.lengths if head is None else head.tokens_of(inputs.lengths, inputs.counts)
