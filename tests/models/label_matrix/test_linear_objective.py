"""A linear layer and its loss in chunks of labels give what the whole logits give, and never hold
them.
"""

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from tagwright import registry
from tagwright.errors import SettingsError, ShapeError
from tagwright.losses import (
    BinaryCrossEntropyLoss,
    CECLLoss,
    CrossEntropyLoss,
    SparseMask,
    SparseTarget,
    SquaredErrorLoss,
    ZLPRLoss,
)
from tagwright.models.label_matrix.linear_objective import LinearObjective, linear_loss
from tagwright.models.label_matrix.sweep import best_labels

ROWS, WIDTH, LABELS, CHUNK = 5, 7, 41, 12
LOSSES: dict[str, dict[str, Any]] = {
    "asymmetric": {"clip": 0.1},
    "bce": {},
    "bce mean": {"labels": "mean"},
    "bpmll": {},
    "cross_entropy": {},
    "dice": {"smooth": 0.5},
    "focal": {"gamma": 1.5},
    "logit_adjusted": {"tau": 0.7},
    "lsep": {},
    "squared_error": {"link": "sigmoid"},
    "squared_hinge": {"margin": 0.8},
    "zlpr": {},
    "zlpr moved": {"threshold": 0.4},
    "zlpr by label": {"threshold": [0.01 * i for i in range(LABELS)]},
}


def made(name: str, **settings: Any) -> nn.Module:
    facts = {"label_counts": np.arange(1, LABELS + 1)} if name == "logit_adjusted" else {}
    return registry.find("losses", name.split()[0]).factory(**facts, **LOSSES[name], **settings)


def head_of(
    loss: nn.Module, *, labels: int = LABELS, chunk: int = CHUNK, bias: bool = True
) -> LinearObjective:
    torch.manual_seed(3)
    return LinearObjective(loss, WIDTH, labels, chunk=chunk, bias=bias).double()


def hidden_of(rows: int = ROWS) -> Tensor:
    draw = torch.Generator().manual_seed(1)
    return (2 * torch.randn(rows, WIDTH, generator=draw, dtype=torch.float64)).requires_grad_()


def sparse_of(*, soft: bool, background: float = 0.0) -> SparseTarget:
    """Five rows: none, one, many, one in the first and one in the last chunk."""
    rows = [[], [3], [0, 11, 12, 24, 40], [5, 1], [LABELS - 1]]
    ids = torch.tensor([i for row in rows for i in row])
    offsets = torch.tensor([0, *np.cumsum([len(row) for row in rows])])
    values = torch.linspace(0.2, 1.0, len(ids), dtype=torch.float64) if soft else None
    return SparseTarget(ids, offsets, values, background)


MASK = SparseMask(torch.tensor([0, 13, 40, 1, 2]), torch.tensor([0, 1, 3, 3, 5, 5]))
DRAW = torch.Generator().manual_seed(2)
CELLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "mask": {"mask": MASK},
    "label weights": {
        "positive_weight": torch.rand(LABELS, generator=DRAW).double() + 0.5,
        "negative_weight": torch.rand(LABELS, generator=DRAW).double() + 0.5,
    },
    "row weights, mask": {
        "positive_weight": torch.rand(ROWS, 1, generator=DRAW).double() + 0.5,
        "negative_weight": torch.rand(ROWS, LABELS, generator=DRAW).double() + 0.5,
        "mask": MASK,
    },
    "example weight": {
        "example_weight": torch.tensor([0.5, 0.0, 2.0, 1.0, 3.0], dtype=torch.float64)
    },
}


def gradients(value: Tensor, head: LinearObjective, hidden: Tensor) -> list[Tensor]:
    wanted = [hidden, *(p for p in (head.weight, head.bias) if p is not None)]
    upstream = torch.linspace(0.5, 1.5, value.numel(), dtype=value.dtype).view(value.shape)
    return list(torch.autograd.grad(value, wanted, upstream))


def same(head: LinearObjective, target: Tensor | SparseTarget, **cells: Any) -> None:
    hidden = hidden_of()
    value, whole = head(hidden, target, **cells), head.loss(head.logits(hidden), target, **cells)
    torch.testing.assert_close(value, whole, rtol=1e-10, atol=1e-10)
    for one, other in zip(
        gradients(value, head, hidden), gradients(whole, head, hidden), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("name", LOSSES)
def test_the_same_as_the_loss_of_all_logits(name, cells):
    same(head_of(made(name)), sparse_of(soft=False), **CELLS[cells])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("cells", ["plain", "example weight"])
@pytest.mark.parametrize("name", ["bce", "bce mean", "zlpr", "cross_entropy"])
def test_every_reduction(name, cells, reduction):
    same(head_of(made(name, reduction=reduction)), sparse_of(soft=False), **CELLS[cells])


@pytest.mark.parametrize("cells", ["plain", "row weights, mask"])
@pytest.mark.parametrize(
    "name", [n for n in LOSSES if registry.find("losses", n.split()[0]).factory.soft]
)
def test_soft_targets_with_a_background(name, cells):
    same(head_of(made(name)), sparse_of(soft=True, background=0.01), **CELLS[cells])


@pytest.mark.parametrize("chunk", [1, 40, 41, 1000])
@pytest.mark.parametrize("name", ["bce", "zlpr", "cross_entropy"])
def test_any_size_of_chunk(name, chunk):
    same(head_of(made(name), chunk=chunk), sparse_of(soft=False))


@pytest.mark.parametrize("name", ["bce", "zlpr by label"])
def test_without_a_bias(name):
    same(head_of(made(name), bias=False), sparse_of(soft=False))


@pytest.mark.parametrize("name", ["bce", "lsep", "cross_entropy"])
def test_dense_targets_and_masks(name):
    target = sparse_of(soft=False).dense(LABELS).double()
    same(head_of(made(name)), target, mask=MASK.dense(LABELS))


def test_a_threshold_that_is_learnt_gets_its_gradient():
    threshold = nn.Parameter(torch.full((LABELS,), 0.2, dtype=torch.float64))
    head, hidden, target = (
        head_of(ZLPRLoss(threshold=threshold)),
        hidden_of(),
        sparse_of(soft=False),
    )
    ours = torch.autograd.grad(head(hidden, target), threshold)[0]
    theirs = torch.autograd.grad(head.loss(head.logits(hidden), target), threshold)[0]
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_second_derivatives_are_those_of_the_gradients(name, reduction):
    head, target = head_of(made(name, reduction=reduction)), sparse_of(soft=False)
    cells = CELLS["row weights, mask"] | (CELLS["example weight"] if reduction == "mean" else {})

    def value(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return linear_loss(head.loss, hidden, weight, bias, target, chunk=CHUNK, **cells)

    assert torch.autograd.gradgradcheck(
        value, (hidden_of(), head.weight, head.bias), fast_mode=True
    )


@pytest.mark.parametrize("name", ["bce", "zlpr"])
def test_a_gradient_with_a_graph_leaves_the_other_where_it_was(name):
    head, hidden, target = head_of(made(name)), hidden_of(), sparse_of(soft=False)
    value = head(hidden, target)
    (slope,) = torch.autograd.grad(value, hidden, create_graph=True)
    (value + slope.square().sum()).backward()
    whole = head.loss(head.logits(hidden), target)
    (slope,) = torch.autograd.grad(whole, hidden, create_graph=True)
    expected = torch.autograd.grad(whole + slope.square().sum(), head.weight)[0]
    torch.testing.assert_close(head.weight.grad, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["bce", "zlpr", "cross_entropy"])
def test_weights_and_soft_targets_that_are_learnt_get_their_gradient(name):
    head, hidden = head_of(made(name)), hidden_of()
    target = sparse_of(soft=True, background=0.01)
    learnt = [
        target.values.requires_grad_(),
        torch.full((LABELS,), 1.5, dtype=torch.float64).requires_grad_(),
    ]
    ours = torch.autograd.grad(head(hidden, target, negative_weight=learnt[1]), learnt)
    theirs = torch.autograd.grad(
        head.loss(head.logits(hidden), target, negative_weight=learnt[1]), learnt
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
@pytest.mark.parametrize("label", [3, 20], ids=["gold", "other"])
@pytest.mark.parametrize("name", ["bce", "zlpr", "cross_entropy"])
def test_infinite_logits_are_refused(name, label, infinite):
    head = head_of(made(name))
    head.bias.data[label] = infinite
    with pytest.raises(ShapeError, match="NaN or infinity"):
        head(hidden_of(), sparse_of(soft=False))


@pytest.mark.parametrize("name", ["cross_entropy", "logit_adjusted"])
def test_mask_raises_no_target_above_one(name):
    """Nor is a row of which every one of many gold labels is masked anything but a number."""
    mask = SparseMask(torch.tensor([0, 11, 12, 24, 40]), torch.tensor([0, 0, 0, 4, 4, 5]))
    weights = {"negative_weight": torch.full((LABELS,), 3.0, dtype=torch.float64)}
    same(head_of(made(name, reduction="none")), sparse_of(soft=False), mask=mask, **weights)
    every = mask._replace(offsets=torch.tensor([0, 0, 0, 5, 5, 5]))
    same(head_of(made(name, reduction="none")), sparse_of(soft=False), mask=every, **weights)


@pytest.mark.parametrize("name", ["bce", "zlpr"])
def test_gradients_of_two_batches_add_up(name):
    head, target = head_of(made(name)), sparse_of(soft=False)
    first, second = hidden_of().detach(), hidden_of().detach().flip(0)
    for hidden in (first, second):
        head(hidden, target).backward()
    whole = sum(head.loss(head.logits(hidden), target) for hidden in (first, second))
    expected = torch.autograd.grad(whole, [head.weight, head.bias])
    torch.testing.assert_close(head.weight.grad, expected[0], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(head.bias.grad, expected[1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["bce", "zlpr", "cross_entropy"])
@pytest.mark.parametrize("scale", [1e4, -1e4])
def test_huge_logits_stay_numbers(name, scale):
    head = head_of(made(name)).float()
    nn.init.constant_(head.bias, scale)
    value = head(hidden_of().detach().float(), sparse_of(soft=False))
    value.backward()
    assert value.isfinite()
    assert head.weight.grad.isfinite().all()


@pytest.mark.parametrize("name", ["bce", "zlpr"])
def test_bfloat16_weights_at_ten_thousand_labels(name):
    labels = 10_000
    loss = made(name)
    head, exact = (head_of(loss, labels=labels, chunk=1024) for _ in range(2))
    head.weight.data = head.weight.data.bfloat16()
    head.bias.data = head.bias.data.float()
    exact.weight.data = head.weight.data.double()
    target = SparseTarget(torch.tensor([1, 5000, 9999]), torch.tensor([0, 1, 1, 2, 3, 3]))
    hidden = hidden_of().detach().bfloat16().double().requires_grad_()
    soft = hidden.detach().float().requires_grad_()
    value, whole = head(soft, target), loss(exact.logits(hidden), target)
    torch.testing.assert_close(value.double(), whole, rtol=2e-2, atol=0)
    value.backward(), whole.backward()
    assert head.weight.grad.dtype == torch.bfloat16
    for one, other in ((soft.grad, hidden.grad), (head.weight.grad, exact.weight.grad)):
        error = (one.double() - other).norm() / other.norm()
        assert error < 2e-2
    assert soft.grad.dtype == torch.float32


def test_autocast_multiplies_in_bfloat16_and_keeps_float32_gradients():
    head, target = head_of(BinaryCrossEntropyLoss()).float(), sparse_of(soft=False)
    hidden = hidden_of().detach().float().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        value = head(hidden, target)
    value.backward()
    assert head.weight.grad.dtype == hidden.grad.dtype == torch.float32
    whole = head.loss(head.logits(hidden), target)
    torch.testing.assert_close(value, whole, rtol=2e-2, atol=0)
    assert value != whole


def test_zlpr_of_a_million_zero_logits():
    weight = torch.zeros(1_000_000, 1)
    none = SparseTarget(torch.tensor([], dtype=torch.int64), torch.tensor([0, 0]))
    value = linear_loss(ZLPRLoss(), torch.ones(1, 1), weight, None, none)
    assert value.item() == pytest.approx(math.log(1_000_001), rel=1e-6)


class Stores(TorchDispatchMode):
    """Keeps the size of every storage that operations gave back, by its place."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[int, int] = {}

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        for one in result if isinstance(result, tuple | list) else [result]:
            if isinstance(one, Tensor):
                store = one.untyped_storage()
                size = store.nbytes() // one.element_size()
                self.sizes[store.data_ptr()] = max(size, self.sizes.get(store.data_ptr(), 0))
        return result


@pytest.mark.parametrize("name", ["bce", "zlpr", "lsep", "cross_entropy"])
def test_no_tensor_is_as_large_as_the_logits(name):
    rows, labels = 64, 4096
    torch.manual_seed(0)
    head = LinearObjective(made(name), 2, labels, chunk=256)
    target = SparseTarget(torch.arange(rows), torch.arange(rows + 1))
    with Stores() as seen:
        head(torch.randn(rows, 2, requires_grad=True), target).backward()
    assert rows * 256 > labels * 2, "the weights are smaller, so that this says something"
    assert max(seen.sizes.values()) <= rows * 256 + 1


@pytest.mark.parametrize("name", ["bce", "zlpr"])
def test_the_gradient_of_the_weights_is_made_once_and_not_copied(name):
    torch.manual_seed(0)
    head = LinearObjective(made(name), 64, 4096, chunk=256)
    target = SparseTarget(torch.arange(3), torch.arange(4))
    with Stores() as seen:
        (head(torch.randn(3, 64), target) / 3).backward()
    large = {place for place, size in seen.sizes.items() if size >= 64 * 4096}
    assert large <= {
        weight.untyped_storage().data_ptr() for weight in (head.weight, head.weight.grad)
    }


def test_what_is_not_asked_for_gets_no_gradient():
    head, target = head_of(ZLPRLoss()), sparse_of(soft=False)
    head.weight.requires_grad_(False)
    hidden = hidden_of()
    head(hidden, target).backward()
    assert head.weight.grad is None
    assert hidden.grad.isfinite().all()
    with torch.no_grad():
        assert not head(hidden, target).requires_grad


def test_top_k_is_the_top_of_all_logits():
    head, hidden = head_of(BinaryCrossEntropyLoss()), hidden_of().detach()
    values, ids = head.top_k(hidden, 17)
    expected = head.logits(hidden).topk(17)
    torch.testing.assert_close(values, expected.values)
    assert torch.equal(ids, expected.indices)
    assert head.top_k(hidden, 100)[1].shape == (ROWS, LABELS)


def test_equal_logits_come_in_the_order_of_the_labels():
    found = best_labels(torch.ones(2, 1), torch.zeros(9, 1), None, 9, chunk=4)
    assert found.ids.tolist() == [list(range(9))] * 2


def test_the_log_of_the_sum_over_all_labels_comes_along():
    head, hidden = head_of(CrossEntropyLoss()), hidden_of().detach()
    logits = head.logits(hidden)
    found = best_labels(
        hidden, head.weight, head.bias, 3, chunk=CHUNK, log_terms=lambda logits: logits
    )
    torch.testing.assert_close(found.log_sum, logits.logsumexp(-1))
    found = best_labels(hidden, head.weight, head.bias, 3, chunk=CHUNK, log_terms=F.logsigmoid)
    torch.testing.assert_close(found.log_sum, logits.sigmoid().sum(-1).log())


def test_a_copy_and_a_saved_state_give_the_same():
    head, target, hidden = head_of(ZLPRLoss(threshold=0.1)), sparse_of(soft=False), hidden_of()
    other = LinearObjective(ZLPRLoss(threshold=0.1), WIDTH, LABELS, chunk=CHUNK).double()
    other.load_state_dict(head.state_dict())
    expected = head(hidden, target)
    assert torch.equal(copy.deepcopy(head)(hidden, target), expected)
    assert torch.equal(other(hidden, target), expected)


@pytest.mark.parametrize("loss", [CECLLoss(), SquaredErrorLoss(link="softmax")])
def test_a_loss_that_needs_whole_rows_is_refused_and_others_are_named(loss):
    with pytest.raises(SettingsError, match=r"bce.*zlpr"):
        LinearObjective(loss, 2, 3)


def test_soft_targets_of_a_hard_loss_are_refused():
    with pytest.raises(ShapeError, match="0 and 1 only"):
        head_of(made("lsep"))(hidden_of(), sparse_of(soft=True))


def test_mistakes_are_said():
    head, target = head_of(BinaryCrossEntropyLoss()), sparse_of(soft=False)
    with pytest.raises(ShapeError, match=r"hidden must be \(B, 7\)"):
        head(torch.zeros(ROWS, 3), target)
    with pytest.raises(ShapeError, match=r"offsets of 3 rows"):
        head(hidden_of(3), target)
    with pytest.raises(ShapeError, match="example_weight"):
        head(hidden_of(), target, example_weight=torch.ones(2))
    with pytest.raises(ShapeError, match="at least one label"):
        linear_loss(head.loss, hidden_of(), torch.zeros(0, WIDTH).double(), None, target)
    with pytest.raises(SettingsError, match="chunk"):
        LinearObjective(BinaryCrossEntropyLoss(), 2, 3, chunk=0)
    with pytest.raises(ShapeError, match="NaN"):
        head(hidden_of().detach() * math.nan, target)
    once = head(hidden_of(), target)
    once.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="second backward"):
        once.backward()
