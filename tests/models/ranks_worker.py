"""What `test_ranks.py` runs in each of two processes: everything that they do together, its results
as JSON.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from tagwright.batches.inputs import TokenInputs
from tagwright.models.distributed import ALONE, RankError, joined
from tagwright.models.evaluate import logits_of, logits_of_heads
from tagwright.models.heads import Head
from tagwright.models.network import Network
from tagwright.tokenizers.tokens import Tokens
from tagwright.training import _gradients
from tagwright.training.loop import Course, steps

COUNT, BATCH, LABELS = 11, 5, 3  # the last batch of an epoch has one row: a process without any


def head_of(labels):
    head = Head()
    head.label_count = labels
    return head


class Sums(nn.Module):
    """Logits of texts: sums of their tokens' rows; one weight is used in training by even rows
    only, one never.
    """

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"main": head_of(LABELS), "other": head_of(2)})
        torch.manual_seed(0)
        self.table = nn.Parameter(torch.randn(50, LABELS, dtype=torch.float64))
        self.sometimes = nn.Parameter(torch.ones(LABELS, dtype=torch.float64))
        self.never = nn.Parameter(torch.ones(2, dtype=torch.float64))

    slotted = Network.slotted

    def of_labels(self, ids, lengths, *rest, heads=None):
        kept = torch.arange(ids.shape[1]) < lengths[:, None]
        found = (self.table[ids] * kept[:, :, None]).sum(1)
        return {"main": found, "other": found[:, :2] - 1}


def course():
    def plan(epoch):
        order = np.random.default_rng(epoch).permutation(COUNT)
        return [order[start : start + BATCH] for start in range(0, COUNT, BATCH)]

    return Course(plan=plan, per_epoch=3, total=6)


def trained(ranks, **options):
    """Weights after six steps and their losses."""
    network = Sums()
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.1, weight_decay=0.5)

    def loss_of(rows, generator):
        even, odd = (network.table[torch.from_numpy(rows[rows % 2 == rest])] for rest in (0, 1))
        value = odd.square().sum()
        return value + (even * network.sometimes).square().sum() if len(even) else value

    seen = list(
        steps(
            network,
            optimizer,
            course(),
            loss_of,
            lambda step: 1.0,
            clip=0.5,
            ranks=ranks,
            **options,
        )
    )
    return {name: w.tolist() for name, w in network.state_dict().items()}, [
        step.loss for step in seen
    ]


def drawn(ranks):
    """What dropout and a mask would draw in the first step."""
    network, result = nn.Linear(1, 1), []

    def loss_of(rows, generator):
        result.extend([torch.rand(1).item(), torch.rand(1, generator=generator).item()])
        return network(torch.ones(len(rows), 1)).sum()

    next(
        steps(
            network,
            torch.optim.SGD(network.parameters()),
            course(),
            loss_of,
            lambda step: 1.0,
            ranks=ranks,
        )
    )
    return result


def inputs_of(count):
    lengths = np.arange(count) % 7 + 1
    ids = np.random.default_rng(0).integers(0, 50, lengths.sum()).astype(np.int32)
    return TokenInputs(Tokens(ids, np.concatenate([[0], lengths.cumsum()])), 7)


def scored(ranks, count):
    return logits_of(Sums(), inputs_of(count), batch=4, ranks=ranks).tolist()


def scored_heads(ranks, count):
    found = logits_of_heads(Sums(), inputs_of(count), ["main", "other"], batch=4, ranks=ranks)
    return {name: logits.tolist() for name, logits in found.items()}


def failure(ranks, of):
    """What a process says where those of `of` fail inside a block."""
    try:
        with ranks.together():
            if ranks.rank in of:
                raise ValueError(f"fault {ranks.rank} ü")
    except (ValueError, RankError) as error:
        return type(error).__name__, str(error)
    return None


def different(ranks):
    try:
        ranks.require_same([5, ranks.rank], "numbers")
    except RankError as error:
        return str(error)


def results(ranks):
    zeros = np.zeros((4, 1), np.float32)
    zeros[ranks.rank * 2] = -0.0 if ranks.first else np.nan
    _gradients.BUCKET = 64  # several buckets, and a tensor larger than one
    ranks.require_same([5, -1], "numbers")
    return {
        "sums": [
            ranks.total([1.5, ranks.rank]),
            ranks.any(not ranks.first),
            ranks.any(False),
            ranks.all(ranks.first),
        ],
        "first": ranks.of_first(ranks.rank + 7.0),
        "merged": ranks.merged(zeros).view(np.int32).ravel().tolist(),
        "trained": trained(ranks),
        "accumulated": trained(ranks, accumulate=2),
        "alone": trained(ALONE),
        "drawn": drawn(ranks),
        "drawn_alone": drawn(ALONE),
        "scored": [scored(ranks, count) for count in (13, 3, 0)],
        "scored_alone": [scored(ALONE, count) for count in (13, 3, 0)],
        "scored_heads": [scored_heads(ranks, count) for count in (13, 3, 0)],
        "scored_heads_alone": [scored_heads(ALONE, count) for count in (13, 3, 0)],
        "failures": [failure(ranks, of) for of in ((), (1,), (0, 1))],
        "different": different(ranks),
    }


def main(folder):
    with joined() as ranks:
        found = results(ranks)
        if ranks.rank == 1:
            (folder / "1.json").write_text(json.dumps(found))
            os._exit(0)  # gone without a word
        try:
            while True:
                ranks.any(False)
        except RankError as error:
            found["gone"] = str(error)
        (folder / "0.json").write_text(json.dumps(found))
    # torch's threads may abort a process that ends after another is gone; whether ours saw it is
    # what is asked here
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
