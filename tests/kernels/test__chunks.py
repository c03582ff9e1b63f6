"""Chunks by kernels give what the plain form gives."""

import pytest
import torch

from tagwright import kernels, losses
from tagwright.errors import ShapeError
from tagwright.losses import SparseMask, SparseTarget
from tagwright.models.label_matrix.linear_objective import LinearObjective

pytestmark = [
    pytest.mark.skipif(not kernels.TRITON, reason="kernels want Triton"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the interpreter's own
]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ROWS, WIDTH, LABELS = 3, 4, 41


def outcome(loss: torch.nn.Module, target, given, *, fused: bool):
    torch.manual_seed(0)
    head = LinearObjective(loss, WIDTH, LABELS, chunk=16).to(DEVICE)
    hidden = torch.randn(ROWS, WIDTH, device=DEVICE, requires_grad=True)
    if fused:
        with kernels.everywhere():
            value = head(hidden, target, **given)
            value.backward(torch.ones_like(value) * 3)
    else:
        value = loss(head.logits(hidden).double(), target, **given)
        value.backward(torch.ones_like(value) * 3)
    return [value.detach().float(), hidden.grad, head.weight.grad, head.bias.grad]


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize(
    "make",
    [
        losses.BinaryCrossEntropyLoss,
        lambda reduction: losses.BinaryCrossEntropyLoss(labels="mean", reduction=reduction),
        lambda reduction: losses.FocalLoss(gamma=1.5, reduction=reduction),
        lambda reduction: losses.ZLPRLoss(threshold=0.5, reduction=reduction),
        losses.BPMLLLoss,
    ],
    ids=["bce", "bce mean", "focal", "zlpr", "bpmll"],
)
def test_value_and_gradients_are_those_of_all_logits(make, reduction):
    target = SparseTarget(torch.tensor([40, 3, 17, 16]), torch.tensor([0, 2, 2, 4]))
    mask = SparseMask(torch.tensor([0, 17, 5]), torch.tensor([0, 1, 1, 3]))
    given = {
        "negative_weight": torch.rand(LABELS) + 0.5,
        "positive_weight": torch.rand(ROWS, 1) + 0.5,
    }
    target, mask = (
        type(one)(*(p.to(DEVICE) if isinstance(p, torch.Tensor) else p for p in one))
        for one in (target, mask)
    )
    given = {name: weight.to(DEVICE) for name, weight in given.items()} | {"mask": mask}
    if reduction == "mean":
        given["example_weight"] = torch.tensor([1.0, 0.5, 2.0], device=DEVICE)
    loss = make(reduction=reduction)
    torch.testing.assert_close(
        outcome(loss, target, given, fused=True),
        outcome(loss, target, given, fused=False),
        rtol=1e-5,
        atol=1e-6,
    )


def test_a_dense_mask_and_a_background_leave_the_logits_alone():
    values = torch.tensor([0.9, 0.5, 1.0, 0.0])
    target = SparseTarget(torch.tensor([40, 3, 17, 16]), torch.tensor([0, 2, 2, 4]), values, 0.125)
    for one in (target, target._replace(background=0.0)):
        moved = SparseTarget(*(p.to(DEVICE) if isinstance(p, torch.Tensor) else p for p in one))
        given = {"mask": torch.rand(ROWS, LABELS, device=DEVICE) < 0.8}
        for loss in (losses.ZLPRLoss(), losses.BinaryCrossEntropyLoss()):
            torch.testing.assert_close(
                outcome(loss, moved, given, fused=True),
                outcome(loss, moved, given, fused=False),
                rtol=1e-5,
                atol=1e-6,
            )


def test_dense_targets_are_cut_like_sparse_ones():
    target = (torch.rand(ROWS, LABELS, device=DEVICE) < 0.2).float()
    given = {"mask": torch.rand(ROWS, LABELS, device=DEVICE) < 0.8}
    for loss in (losses.ZLPRLoss(), losses.BinaryCrossEntropyLoss()):
        torch.testing.assert_close(
            outcome(loss, target, given, fused=True),
            outcome(loss, target, given, fused=False),
            rtol=1e-5,
            atol=1e-6,
        )


@pytest.mark.parametrize(
    "loss", [losses.BinaryCrossEntropyLoss(), losses.ZLPRLoss()], ids=["bce", "zlpr"]
)
def test_second_derivatives_are_those_of_all_logits(loss):
    target = SparseTarget(torch.tensor([40, 3, 17, 16]), torch.tensor([0, 2, 2, 4]))
    target = SparseTarget(*(p.to(DEVICE) if isinstance(p, torch.Tensor) else p for p in target))
    torch.manual_seed(0)
    head = LinearObjective(loss, WIDTH, LABELS, chunk=16).to(DEVICE)
    hidden = torch.randn(ROWS, WIDTH, device=DEVICE, requires_grad=True)
    with kernels.everywhere():
        (slope,) = torch.autograd.grad(head(hidden, target), hidden, create_graph=True)
        found = torch.autograd.grad(slope.square().sum(), head.weight)
    (slope,) = torch.autograd.grad(
        loss(head.logits(hidden).double(), target), hidden, create_graph=True
    )
    expected = torch.autograd.grad(slope.square().sum(), head.weight)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("infinite", [torch.inf, -torch.inf])
@pytest.mark.parametrize("label", [3, 20], ids=["gold", "other"])
@pytest.mark.parametrize("make", [losses.BinaryCrossEntropyLoss, losses.ZLPRLoss, losses.BPMLLLoss])
def test_infinite_logits_make_no_number(make, label, infinite):
    target = SparseTarget(
        *(p.to(DEVICE) for p in (torch.tensor([3, 3, 3]), torch.arange(ROWS + 1)))
    )
    head = LinearObjective(make(), WIDTH, LABELS, chunk=16).to(DEVICE)
    head.bias.data[label] = infinite
    hidden = torch.randn(ROWS, WIDTH, device=DEVICE)
    with kernels.everywhere():
        if DEVICE == "cpu":  # where looking costs nothing
            with pytest.raises(ShapeError, match="NaN or infinity"):
                head(hidden, target)
        else:
            assert head(hidden, target).isnan()
