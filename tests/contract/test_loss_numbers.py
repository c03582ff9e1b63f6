"""What is no number is never taken for one: infinite logits, no labels, no weight, more target than
there is.
"""

from importlib import import_module

import pytest
import torch
from torch import Tensor

from tagwright.errors import ShapeError
from tagwright.losses import SparseTarget

from .loss_cases import LABELS, NAMES, SPARSE, Loss, cells, same

SOFTMAX = [name for name in NAMES if Loss(name).module.link == "softmax"]
INFINITE = pytest.mark.parametrize("infinite", [torch.inf, -torch.inf])
GOLD = pytest.mark.parametrize("gold", [True, False], ids=["gold", "other"])
ROW = 3


def spoilt(loss: Loss, infinite: float, gold: bool) -> tuple[Tensor, Tensor, int]:
    """Logits of which one is infinite, in row 3, their target, and the label."""
    logits, target = loss.logits(), loss.target()
    label = int((target[ROW] == gold).nonzero()[0])
    logits[ROW, label] = infinite
    return logits, target, label


@GOLD
@INFINITE
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_infinite_logit_is_refused_on_a_cpu(
    name: str, dtype: torch.dtype, infinite: float, gold: bool
):
    loss = Loss(name)
    logits, target, _ = spoilt(loss, infinite, gold)
    for scores in (logits.to(dtype), logits.to(dtype).requires_grad_()):
        for truth in (target, SparseTarget(*cells(target)))[: 1 + (name in SPARSE)]:
            with pytest.raises(ShapeError, match="logits hold NaN or infinity"):
                loss.function(scores, truth)


@GOLD
@INFINITE
def test_infinite_logit_is_refused_by_a_large_bce(
    infinite: float, gold: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(import_module("tagwright.losses.bce"), "CELLS", 1)
    logits, target, _ = spoilt(Loss("bce"), infinite, gold)
    with pytest.raises(ShapeError, match="logits hold NaN or infinity"):
        Loss("bce").function(logits.requires_grad_(), target)


@GOLD
@INFINITE
@pytest.mark.parametrize("name", NAMES)
def test_infinite_logit_makes_the_value_of_its_row_nan_where_nobody_looks(
    name: str, infinite: float, gold: bool
):
    loss = Loss(name)
    logits, target, label = spoilt(loss, infinite, gold)
    values = torch.func.vmap(loss.function)(logits[None], target[None])[0]
    if loss.module.batchwise:
        assert values[label if len(values) > 1 else 0].isnan()
        return
    assert values[ROW].isnan()
    assert values[torch.arange(len(values)) != ROW].isfinite().all()


@pytest.mark.parametrize("name", ["dice", "batch_dice", "sigmoid_f1", "zlpr", "ranking"])
def test_finite_logits_whose_sum_overflows_are_numbers(name: str):
    loss = Loss(name)
    logits = torch.full((7, LABELS), 1e38)
    assert loss.function(logits, loss.target()).isfinite().all()


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("name", NAMES)
def test_no_labels_are_refused(name: str, rows: int):
    loss = Loss(name)
    with pytest.raises(ShapeError, match="at least one label, got logits"):
        loss.made(1)(loss.logits(rows, 0), torch.zeros(rows, 0))


@pytest.mark.parametrize("name", [n for n in NAMES if not Loss(n).module.batchwise])
def test_mean_over_no_weight_has_no_gradient_however_much_flows_in(name: str):
    loss = Loss(name)
    logits, target = loss.logits().float().requires_grad_(), loss.target().float()
    value = loss.made()(logits, target, example_weight=torch.zeros(len(logits)))
    value.backward(torch.full_like(value, 2.0**24))  # a scaler's factor
    assert value == 0
    assert (logits.grad == 0).all()


@pytest.mark.parametrize("name", SOFTMAX)
def test_mask_raises_no_target_above_one(name: str):
    """Of two gold labels one is masked: the other counts as gold, not twice."""
    loss = Loss(name)
    logits, target = (
        loss.logits(2, 4),
        torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.9, 0.9, 0.9, 0.9]]).double(),
    )
    mask = torch.tensor([[False, True, True, True], [True, False, True, False]])
    held = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]]).double()
    weights = {"negative_weight": torch.full((4,), 3.0, dtype=torch.float64)}
    values = loss.function(logits, target, mask=mask, **weights)
    same(values, loss.function(logits, held, mask=mask, **weights))
    assert (values >= 0).all()


@pytest.mark.parametrize("name", SOFTMAX)
def test_row_whose_many_gold_labels_are_all_masked_is_finite(name: str):
    loss = Loss(name)
    logits = loss.logits(1, LABELS).float().requires_grad_()
    target = torch.ones(1, LABELS)
    target[0, 0] = 0
    value = loss.function(
        logits, target, mask=target == 0, negative_weight=torch.full((LABELS,), 2.0)
    )
    value.sum().backward()
    assert value.isfinite().all()
    assert logits.grad.isfinite().all()
