"""Every loss can be differentiated twice, and by whatever else wants a gradient, however its
gradient is made.
"""

from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from tagwright.losses import SparseMask, SparseTarget

from .loss_cases import NAMES, SPARSE, Loss, cells, same

ROWS, LABELS = 3, 4
SOFT = [name for name in NAMES if Loss(name).module.soft]


def hard_target(loss: Loss) -> Tensor:
    """Of label sets one is empty, one full, and one has gold labels and others: pairs, where a loss
    needs them.
    """
    target = loss.target(ROWS, LABELS)
    if not loss.exclusive:
        target[2] = torch.tensor([1.0, 0.0, 0.0, 1.0])
    return target


def soft_target(loss: Loss) -> Tensor:
    return torch.softmax(loss.logits(ROWS, LABELS, seed=5)[:, :LABELS], -1)


def sparse_of(target: Tensor, extras: dict[str, Tensor]) -> tuple[SparseTarget, dict[str, Any]]:
    mask = {"mask": SparseMask(*cells((~extras["mask"]).double())[:2])} if extras else {}
    return SparseTarget(*cells(target)), {**extras, **mask}


def differentiates_twice(loss: Loss, target: Tensor | SparseTarget, extras: dict[str, Any]) -> None:
    logits = loss.logits(ROWS, LABELS).requires_grad_()
    assert torch.autograd.gradgradcheck(
        lambda scores: loss.function(scores, target, **extras), logits
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "mask and weights"])
@pytest.mark.parametrize("name", NAMES)
def test_second_derivative_is_that_of_the_gradient(name: str, weighted: bool):
    loss = Loss(name)
    target = hard_target(loss)
    differentiates_twice(loss, target, loss.extras(target) if weighted else {})


@pytest.mark.parametrize("name", SOFT)
def test_second_derivative_of_soft_targets(name: str):
    loss = Loss(name)
    target = soft_target(loss)
    differentiates_twice(loss, target, loss.extras(target))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "mask and weights"])
@pytest.mark.parametrize("name", SPARSE)
def test_second_derivative_of_sparse_targets_in_several_blocks(
    name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tagwright.loss_math.blocks.CELLS", {"cpu": 2 * LABELS})
    loss = Loss(name)
    target = hard_target(loss)
    differentiates_twice(loss, *sparse_of(target, loss.extras(target) if weighted else {}))


def test_second_derivative_of_a_large_bce(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(import_module("tagwright.losses.bce"), "CELLS", 1)
    loss = Loss("bce")
    differentiates_twice(loss, hard_target(loss), {})


def test_gradient_penalty_is_learnt_from():
    """One label, one weight w: the loss is log(1 + e^-w), its slope -σ(-w), and the penalty σ(-w)²
    falls with w.
    """
    weight = torch.tensor([[0.3]], dtype=torch.float64, requires_grad=True)
    loss = Loss("zlpr")
    (slope,) = torch.autograd.grad(
        loss.function(weight, torch.ones_like(weight)).sum(), weight, create_graph=True
    )
    slope.square().sum().backward()
    chance = torch.sigmoid(-weight.detach())
    same(weight.grad, -2 * chance**2 * (1 - chance))


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_the_same_with_and_without_a_graph(name: str):
    loss = Loss(name)
    logits, target = loss.logits().requires_grad_(), loss.target()
    value = loss.made()(logits, target)
    with_graph, without = (
        torch.autograd.grad(value, logits, create_graph=graph)[0] for graph in (True, False)
    )
    same(with_graph, without)


def reaches(loss: Loss, target: Tensor, learnt: list[Tensor], *, sparse: bool) -> None:
    """Whether weights, and a target among the learnt, have the gradient that small steps show."""
    mask = {"mask": loss.extras(target)["mask"]}
    logits = loss.logits(ROWS, LABELS).requires_grad_()

    def value(positive: Tensor, negative: Tensor, truth: Tensor = target) -> Tensor:
        given, extras = sparse_of(truth, mask) if sparse else (truth, mask)
        return loss.function(
            logits, given, positive_weight=positive, negative_weight=negative, **extras
        )

    assert torch.autograd.gradcheck(value, learnt)


def label_weights() -> list[Tensor]:
    return [
        torch.linspace(0.5, 1.5, LABELS, dtype=torch.float64).requires_grad_() for _ in range(2)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_gradient_reaches_weights(name: str):
    loss = Loss(name)
    for sparse in (False, True)[: 1 + (name in SPARSE)]:
        reaches(loss, hard_target(loss), label_weights(), sparse=sparse)


@pytest.mark.parametrize("name", SOFT)
def test_gradient_reaches_soft_targets(name: str):
    loss = Loss(name)
    target = soft_target(loss).requires_grad_()
    for sparse in (False, True)[: 1 + (name in SPARSE)]:
        reaches(loss, target, [*label_weights(), target], sparse=sparse)


@pytest.mark.parametrize("name", NAMES)
def test_forward_mode_agrees_with_the_gradient(name: str):
    loss = Loss(name)
    logits, target = loss.logits().requires_grad_(), loss.target()
    direction = loss.logits(seed=7)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(logits, direction)
        moved = torch.autograd.forward_ad.unpack_dual(loss.function(dual, target).sum()).tangent
    same(moved.detach(), (loss.slope(logits, target) * direction).sum())
