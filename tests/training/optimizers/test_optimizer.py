"""The optimizer: which parameters decay."""

import torch
from torch import nn

from tagwright.training.optimizers.optimizer import build_optimizer


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))


def test_without_gradients_only_matrices_shrink_and_by_rate_times_decay():
    made = network()
    before = [p.detach().clone() for p in made.parameters()]
    optimizer = build_optimizer(made, learning_rate=0.1, weight_decay=0.5, batch=8)
    for parameter in made.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for old, new in zip(before, made.parameters()):
        torch.testing.assert_close(new.detach(), old * (0.95 if old.ndim > 1 else 1.0))


def test_every_parameter_is_in_exactly_one_group():
    made = network()
    grouped = [
        id(p)
        for g in build_optimizer(made, learning_rate=0.1, weight_decay=0.5, batch=8).param_groups
        for p in g["params"]
    ]
    assert sorted(grouped) == sorted(id(p) for p in made.parameters())


def test_a_frozen_parameter_is_left_alone():
    made = network()
    made[0].weight.requires_grad_(False)
    optimizer = build_optimizer(made, learning_rate=0.1, weight_decay=0.5, batch=8)
    assert all(p is not made[0].weight for g in optimizer.param_groups for p in g["params"])


def test_a_network_with_matrices_alone_gets_an_optimizer():
    made = nn.Linear(3, 2, bias=False)
    assert (
        len(build_optimizer(made, learning_rate=0.1, weight_decay=0.0, batch=8).param_groups) == 1
    )


def test_sparse_rows_that_a_batch_does_not_touch_stay_where_they_are():
    made = nn.Embedding(5, 3, sparse=True)
    before = made.weight.detach().clone()
    optimizer = build_optimizer(made, learning_rate=0.1, weight_decay=0.5, batch=8, sparse=True)
    made(torch.tensor([1, 3])).sum().backward()
    optimizer.step()
    moved = (made.weight.detach() != before).any(1)
    assert moved.tolist() == [False, True, False, True, False]


def test_a_label_matrix_can_be_moved_apart():
    made = network()
    together = build_optimizer(
        made, learning_rate=0.1, weight_decay=0.5, batch=8, labels=[(made[2], 0.7)]
    )
    rates = {id(p): group["lr"] for group in together.param_groups for p in group["params"]}
    assert rates == {
        id(p): 0.7 if p in set(made[2].parameters()) else 0.1 for p in made.parameters()
    }
    assert together.param_groups[-1]["floor"] == 1 / 8


def test_each_of_several_label_matrices_is_moved_at_its_own_rate():
    made = nn.ModuleDict(
        {"shared": nn.Linear(3, 3), "one": nn.Linear(3, 4), "other": nn.Linear(3, 2)}
    )
    labels = [(made["one"], 0.7), (made["other"], 0.2)]
    optimizer = build_optimizer(made, learning_rate=0.1, weight_decay=0.5, batch=8, labels=labels)
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    expected = {"shared": 0.1, "one": 0.7, "other": 0.2}
    assert rates == {
        id(p): rate for name, rate in expected.items() for p in made[name].parameters()
    }
    before = {name: part.weight.detach().clone() for name, part in made.items()}
    for parameter in made.parameters():
        parameter.grad = torch.full_like(parameter, 2.0)
    optimizer.step()
    for name in ("one", "other"):  # by the root of the floor and the row's three squares
        torch.testing.assert_close(
            made[name].weight.detach(), before[name] - expected[name] * 2 / (1 / 64 + 12) ** 0.5
        )
    assert optimizer.param_groups[0]["lr"] == 0.1  # what progress shows


def test_rate_falls_with_depth_and_the_head_keeps_it():
    low, high, head = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)
    depths = {low.weight: 2, low.bias: 2, high.weight: 0, high.bias: 0}
    network = nn.ModuleList([low, high, head])
    optimizer = build_optimizer(
        network, learning_rate=0.1, weight_decay=0.01, batch=4, layer_decay=0.5, depths=depths
    )
    rate_of = {p: (g["lr"], g["weight_decay"]) for g in optimizer.param_groups for p in g["params"]}
    assert rate_of == {
        low.weight: (0.025, 0.01),
        low.bias: (0.025, 0.0),
        **{part.weight: (0.1, 0.01) for part in (high, head)},
        **{part.bias: (0.1, 0.0) for part in (high, head)},
    }
    assert optimizer.param_groups[0]["lr"] == 0.1  # what progress shows
