"""Attention between label slots: how much each label looks at each other one (LM-MTC, section
5.6.1, Figure 3).

For models whose labels stand as slots before the text (head cloze). The paper averages heads and
adds up all texts; here the sum is a mean, so that a cell is a share. Of a slot's tokens the middle
one looks, for the label's logit is read there alone; what it looks at is the whole slot, whose
tokens are summed, as is done for words of several pieces.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import numpy as np
import torch
from torch import Tensor

from tagwright.arrays import Floats, Ints
from tagwright.batches.bucket import plan
from tagwright.batches.inputs import Inputs
from tagwright.errors import ModelError, SettingsError
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.models.heads.cloze import Cloze
from tagwright.models.network import Network

# what a pass gives: attention (R, H, N, N) of every layer, as far as the model has it
Passed = Sequence[Tensor | None] | None
CELLS = 2**24  # of attention in a batch, all layers and heads together: 64 MB
BATCH = 256  # texts, where they are short
PLACES = {"low": 1 / 6, "middle": 1 / 2, "last": 1.0}  # the paper's 2nd, 6th and 12th of 12


def layers_named(wanted: str, depth: int) -> tuple[int, ...]:
    """Numbers of layers, from 1 up, of words with commas between: numbers, or low, middle and last.

    >>> layers_named("low,middle,last", 12), layers_named("6, 1", 6)
    ((2, 6, 12), (1, 6))
    """
    found = set()
    for word in filter(None, (piece.strip() for piece in wanted.split(","))):
        if word in PLACES:
            found.add(max(1, int(PLACES[word] * depth + 0.5)))
        elif word.isdecimal() and 1 <= int(word) <= depth:
            found.add(int(word))
        else:
            choices = f"low, middle, last or numbers from 1 to {depth}"
            raise SettingsError(f"unknown layer {word!r}; choices: {choices}, with commas between")
    if not found:
        raise SettingsError(
            "no layer is named; take low, middle, last or numbers, with commas between"
        )
    return tuple(sorted(found))


def depth_of(network: Network) -> int:
    """How many layers a network with label slots has; one without slots is refused."""
    if network.slotted is None:
        raise ModelError(
            "this model has no label slots, so its labels cannot look at each other; attention"
            " between labels is for models of head cloze: `tagwright fit DATA --encoder minilm"
            " --objective cloze`"
        )
    return int(_parts(network)[1].model.config.num_hidden_layers)


@torch.inference_mode()
def label_attention(
    network: Network,
    inputs: Inputs,
    layers: Sequence[int],
    *,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> dict[int, Floats]:
    """{layer: attention (L, L)}, float64: the share of its look that label i (row) spends on the
    slot of label j.

    A mean over heads and texts, every slot masked as in prediction; windows of a text count as one
    text. NaN where i cannot see j: in another pass over the labels, or beyond what the layer reads.
    Leaves the network in evaluation mode. `told` hears how many texts are done of how many.
    """
    network.eval()
    depth, device = depth_of(network), next(network.parameters()).device
    head, encoder = _parts(network)
    sums: dict[int, Floats] = {layer: np.zeros(()) for layer in layers}
    done, total = 0, len(inputs.lengths)
    with attending(encoder) as passed:
        for index in _batches(inputs, head, encoder):
            tensors = tuple(tensor.to(device) for tensor in inputs.batch(index))
            network.run(*tensors)
            found = _whole(passed.pop(), tensors[0].shape[1] + _slot_tokens(head), depth, encoder)
            share, before = _shares(tensors), min(encoder.before, tensors[0].shape[1])
            for layer in layers:
                between = _between_slots(found[layer - 1], share, head, before=before)
                sums[layer] = sums[layer] + between.cpu().numpy().astype(np.float64)
            done += len(index)
            told(done, total)
    return {layer: _of_labels(summed / max(total, 1), head) for layer, summed in sums.items()}


@contextmanager
def attending(encoder: Pretrained) -> Iterator[list[Passed]]:
    """Inside, attention is computed the plain way, and what it was in a pass is appended: a tensor
    a layer, or None.
    """
    model = encoder.model
    passed: list[Passed] = []
    before = model.config._attn_implementation, model.config.output_attentions
    hook = model.register_forward_hook(
        lambda _, given, output: passed.append(vars(output).get("attentions"))
    )
    try:
        model.config._attn_implementation = "eager"  # others never have the whole of it
        model.config.output_attentions = True
        yield passed
    finally:
        hook.remove()
        model.config.output_attentions = before[1]  # first: it is refused beside the others
        model.config._attn_implementation = before[0]


def _parts(network: Network) -> tuple[Cloze, Pretrained]:
    """The head with the slots, and the encoder that reads them."""
    return cast(Cloze, network.heads[str(network.slotted)]), cast(Pretrained, network.encoder)


def _slot_tokens(head: Cloze) -> int:
    """Tokens that slots add to a row."""
    return len(head.places) * (head.chunks if head.one_way else 1)


def _batches(inputs: Inputs, head: Cloze, encoder: Pretrained) -> list[Ints]:
    """Row numbers of each batch, so many that all attention of a pass stays within `CELLS`, if that
    of a text does.
    """
    windows = np.asarray(inputs.counts)
    width = inputs.lengths // windows + _slot_tokens(head)
    config, passes = encoder.model.config, 1 if head.one_way else head.chunks
    cells = windows * passes * width**2 * config.num_attention_heads * config.num_hidden_layers
    return plan(cells, batch=BATCH, seed=0, epoch=0, shuffle=False, room=CELLS)


def _whole(found: Passed, width: int, depth: int, encoder: Pretrained) -> Sequence[Tensor]:
    """Attention of every layer (R, H, N, N), or an error where an encoder does not give it."""
    whole = [one for one in found or () if one is not None and one.shape[-2:] == (width, width)]
    if len(found or ()) != depth or len(whole) != depth:
        raise ModelError(
            f"encoders of the family {encoder.family} do not give the attention of their {depth}"
            " layers whole, so it cannot be shown; bert, roberta, mpnet, electra, distilbert,"
            " albert, deberta-v2 and modernbert do"
        )
    return whole


def _shares(tensors: Sequence[Tensor]) -> Tensor:
    """What each row (R,) counts: a text 1, its windows together 1."""
    if len(tensors) < 3:
        return torch.ones(len(tensors[0]), device=tensors[0].device)
    counts = tensors[2]
    return (1.0 / counts).repeat_interleave(counts, output_size=len(tensors[0]))


def _between_slots(attention: Tensor, share: Tensor, head: Cloze, *, before: int) -> Tensor:
    """Attention (R * passes, H, N, N) -> its mean over heads, summed over rows, between slots:
    (passes, P, P).
    """
    end, size = before + _slot_tokens(head), head.size
    found = attention[:, :, before + size // 2 : end : size, before:end].float().mean(1)
    found = found.unflatten(-1, (-1, size)).sum(-1)
    return torch.einsum("r,rpij->pij", share, found.unflatten(0, (len(share), -1)))


def _of_labels(between: Floats, head: Cloze) -> Floats:
    """Attention between the slots of each pass (passes, P, P) -> between labels (L, L), NaN where
    there is none.

    A label that stands in two chunks looks where its answer is read, and is looked at in both.
    """
    order, kept = head.order.cpu().numpy(), head.kept.cpu().numpy()
    chunks, count = order.shape
    if head.one_way:  # one pass has all groups
        each = np.arange(chunks)
        between = between.reshape(chunks, count, chunks, count)[each, :, each]
    chunk, place = np.divmod(kept, count)
    result = np.full((len(kept), len(kept)), np.nan)
    result[np.arange(len(kept))[:, None], order[chunk]] = between[chunk, place]
    # in all heads and texts exactly: no softmax gives that, a mask does
    result[result == 0] = np.nan
    return result
