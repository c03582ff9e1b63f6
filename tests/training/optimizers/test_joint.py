"""Optimizers side by side: each its own parameters, one state that goes through a checkpoint."""

import pytest
import torch
from torch import nn

from tagwright.training import checkpoint
from tagwright.training.optimizers.joint import JointOptimizer
from tagwright.training.optimizers.label_adagrad import LabelAdagrad


def pair(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(3, 4), nn.Linear(4, 6)


def together(encoder, head):
    groups = [
        {"params": [encoder.weight], "weight_decay": 0.1},
        {"params": [encoder.bias], "weight_decay": 0.0},
    ]
    return JointOptimizer(
        [torch.optim.AdamW(groups, lr=0.01), LabelAdagrad(head.parameters(), lr=0.5)]
    )


def train(encoder, head, optimizer, steps):
    for step in steps:
        optimizer.zero_grad()
        draw = torch.Generator().manual_seed(step)
        head(encoder(torch.randn(5, 3, generator=draw))).square().sum().backward()
        optimizer.step()


def test_each_moves_as_it_would_alone():
    whole, apart = pair(), pair()
    train(*whole, together(*whole), range(3))
    alone = together(*apart).optimizers
    for step in range(3):
        for one in alone:
            one.zero_grad()
        draw = torch.Generator().manual_seed(step)
        apart[1](apart[0](torch.randn(5, 3, generator=draw))).square().sum().backward()
        for one in alone:
            one.step()
    for mine, theirs in zip(whole, apart):
        assert torch.equal(mine.weight, theirs.weight)
        assert torch.equal(mine.bias, theirs.bias)


def test_the_rate_of_every_group_can_be_set():
    encoder, head = pair()
    optimizer = together(encoder, head)
    assert [group["lr"] for group in optimizer.param_groups] == [0.01, 0.01, 0.5]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    before = [p.detach().clone() for part in (encoder, head) for p in part.parameters()]
    train(encoder, head, optimizer, range(2))
    assert all(
        torch.equal(a, b) for a, b in zip(before, [*encoder.parameters(), *head.parameters()])
    )


@pytest.mark.parametrize("cut", [0, 1, 3])
def test_a_state_goes_through_a_checkpoint(tmp_path, cut):
    whole = pair()
    train(*whole, together(*whole), range(5))
    first = pair()
    optimizer = together(*first)
    train(*first, optimizer, range(cut))
    state = (first[0].state_dict(), {}, optimizer.state_dict(), {})
    checkpoint.save(checkpoint.Checkpoint(cut, *state, "same"), tmp_path)
    found = checkpoint.load_last(tmp_path, fingerprint="same")
    again = together(*first)
    again.load_state_dict(found.optimizer)
    train(*first, again, range(cut, 5))
    for mine, theirs in zip(whole, first):
        assert torch.equal(mine.weight, theirs.weight)
        assert torch.equal(mine.bias, theirs.bias)


def test_gradients_are_forgotten():
    encoder, head = pair()
    optimizer = together(encoder, head)
    train(encoder, head, optimizer, [0])
    optimizer.zero_grad()
    assert all(p.grad is None for part in (encoder, head) for p in part.parameters())
