"""What every loss module keeps, whichever package it came from; `test_losses.py` asks more of
Tagwright's own.
"""

import pytest
import torch
from torch import Tensor

from tagwright import registry
from tagwright.losses import LossModule

ROWS, LABELS = 7, 5

pytestmark = pytest.mark.parametrize("name", registry.names("losses"))


def made(name: str, reduction: str = "mean") -> LossModule:
    return registry.build(
        "losses", name, {}, reduction=reduction, label_counts=[3, 1, 4, 1, 5], row_count=9
    )


def batch(loss: LossModule, seed: int = 0) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn(ROWS, LABELS + loss.extra_logits, dtype=torch.float64, generator=random)
    if "many" in loss.tasks:
        return logits, (torch.rand(ROWS, LABELS, generator=random) < 0.4).double()
    return logits, torch.eye(LABELS, dtype=torch.float64)[
        torch.randint(0, LABELS, (ROWS,), generator=random)
    ]


def test_it_declares_what_it_is(name: str):
    loss = made(name)
    assert loss.link in {"sigmoid", "sigmoid2", "softmax", "threshold_class", "none"}
    assert set() < set(loss.tasks) <= {"one", "many", "tokens"}
    assert loss.extra_logits in (0, 1)
    assert loss.over_labels in {"", "terms", "means", "log_sums", "softmax"}
    assert loss.unsure_by in {None, *registry.find("losses", name).settings}


def test_reductions_are_of_the_same_values(name: str):
    each, total, mean = (made(name, reduction) for reduction in ("none", "sum", "mean"))
    values = each(*batch(each))
    torch.testing.assert_close(total(*batch(each)), values.sum())
    torch.testing.assert_close(mean(*batch(each)), values.mean())
    if not each.batchwise:
        assert values.shape == (ROWS,)
        weight = torch.arange(ROWS, dtype=torch.float64)
        torch.testing.assert_close(
            total(*batch(each), example_weight=weight), (values * weight).sum()
        )


@pytest.mark.parametrize("factor", [1.0, 1e4])
def test_value_and_gradient_are_finite(name: str, factor: float):
    loss = made(name)
    logits, target = batch(loss)
    leaf = (logits * factor).requires_grad_()
    loss(leaf, target).backward()
    assert leaf.grad is not None
    assert leaf.grad.isfinite().all()


def test_the_order_of_rows_changes_nothing(name: str):
    loss = made(name, "sum")
    logits, target = batch(loss)
    order = torch.tensor([3, 0, 6, 5, 1, 4, 2])
    torch.testing.assert_close(loss(logits[order], target[order]), loss(logits, target))


def test_a_masked_label_has_no_gradient_of_its_own(name: str):
    loss = made(name, "sum")
    logits, target = batch(loss)
    mask = torch.ones(ROWS, LABELS, dtype=torch.bool)
    mask[:, 2] = target[:, 2] > 0  # a gold label always takes part
    leaf = logits.requires_grad_()
    loss(leaf, target, mask=mask).backward()
    assert leaf.grad is not None
    assert not leaf.grad[:, :LABELS][~mask].any()
