"""zlpr against eqs. 1, 6 and 31 of its paper, written as loops in 40-digit arithmetic."""

import json
from decimal import Decimal, getcontext
from math import log
from pathlib import Path

import numpy as np
import pytest
import torch

from tagwright.losses import SparseTarget, ZLPRLoss, zlpr

getcontext().prec = 40
VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"

# logits, target, threshold, value, gradient (None: not given)
CASES = [
    (
        [-2.0, 1.5, 0.25],
        [1, 1, 0],
        0.0,
        2.9791176270011315,
        [-0.8579768106084572, -0.025908654717401523, 0.5621765008857981],
    ),
    ([-10000.0, 10000.0, 0.5], [1, 0, 1], 0.0, 20000.0, [-1.0, 1.0, 0.0]),
    ([1.2, -0.7, 0.3, 2.5, -1.1], [1, 0, 0, 1, 0], -1.5, 2.458547312390738, None),
    (
        [0.5, -1.0, 2.0],
        [0, 0, 0],
        0.0,
        2.342349582389822,
        [0.15844470951497971, 0.03535379340874887, 0.7100999228861742],
    ),
    ([10000.0, -10000.0, 0.5], [0.9, 0.1, 0.5], 0.0, 19995.394829814013, [1.0, -1.0, 0.0]),
    (
        [0.2, -0.1, 0.05, -1.4],
        [0.6, 0.25, 0.1, 0.05],
        0.0,
        1.9335745013392736,
        [-0.09189649262438856, 0.06894965278252455, 0.23657835894737356, -0.028188561950397317],
    ),
]


def published() -> list[tuple]:
    """The papers' whole list where it lies beside the project."""
    if not VECTORS.exists():
        return []
    content = json.loads(VECTORS.read_text(encoding="utf-8"))
    cases = [
        case for key in ("zlpr_eq1", "tlpr_eq6", "soft_zlpr_eq31") for case in content[key]["cases"]
    ]
    return [
        (
            case["logits"],
            case.get("labels", case.get("probs")),
            case.get("s0", 0.0),
            case["expected"],
            case.get("grad_logits", case.get("grad_logits_eq32")),
        )
        for case in cases
    ]


def reference(logits, target, mask, positive, negative, threshold: float) -> float:
    """log(e^-s₀ + Σ w⁺ p e^-s) + log(e^s₀ + Σ w⁻ (1 - p) e^s) over the labels that take part."""
    low, high = Decimal(-threshold).exp(), Decimal(threshold).exp()
    for s, p, part, gain, cost in zip(logits, target, mask, positive, negative):
        if part:
            low += Decimal(gain) * Decimal(p) * Decimal(-s).exp()
            high += Decimal(cost) * (1 - Decimal(p)) * Decimal(s).exp()
    return float(low.ln() + high.ln())


@pytest.mark.parametrize(
    ("logits", "target", "threshold", "value", "slope"), [*CASES, *published()]
)
def test_value_and_gradient_are_those_of_the_paper(
    logits, target, threshold: float, value: float, slope
):
    scores = torch.tensor([logits], dtype=torch.float64, requires_grad=True)
    loss = zlpr(scores, torch.tensor([target], dtype=torch.float64), threshold=threshold)
    loss.sum().backward()
    torch.testing.assert_close(loss.tolist(), [value], rtol=1e-10, atol=1e-10)
    if slope is not None:
        torch.testing.assert_close(
            scores.grad[0].tolist(), [float(g) for g in slope], rtol=1e-10, atol=1e-10
        )


def test_random_cases_agree_with_the_loops():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 6), rng.integers(1, 14)
        logits = rng.normal(0, rng.choice([0.1, 3, 30, 1e4]), (rows, labels))
        target = (
            rng.random((rows, labels)) if seed % 2 else (rng.random((rows, labels)) < 0.3) * 1.0
        )
        mask = rng.random((rows, labels)) < 0.7
        positive, negative = rng.exponential(size=(2, rows, labels))
        weights = {
            "positive_weight": torch.as_tensor(positive),
            "negative_weight": torch.as_tensor(negative),
        }
        for left_out in ([], ["positive_weight"], ["negative_weight"])[seed % 3]:
            weights.pop(left_out).fill_(1)  # for the reference too: they share memory
        threshold = float(rng.choice([0, -1.5, 0.7]))
        expected = [
            reference(*row, threshold) for row in zip(logits, target, mask, positive, negative)
        ]
        scores, truth, part = map(torch.as_tensor, (logits, target, mask))
        values = zlpr(scores, truth, threshold=threshold, mask=part, **weights)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10, err_msg=f"seed {seed}")


def test_threshold_is_a_shift_of_the_scores():
    logits, target = (
        torch.tensor([[1.0, -2.0, 0.5]]).double(),
        torch.tensor([[1.0, 0.0, 0.0]]).double(),
    )
    torch.testing.assert_close(
        zlpr(logits, target, threshold=0.7), zlpr(logits - 0.7, target), rtol=1e-10, atol=0
    )
    torch.testing.assert_close(
        ZLPRLoss(threshold=0.7)(logits, target),
        zlpr(logits, target, threshold=0.7).mean(),
        rtol=1e-10,
        atol=0,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("full", [0.0, 1.0])
def test_million_zero_logits_cost_the_logarithm_of_a_million_and_one(
    dtype: torch.dtype, full: float
):
    value = zlpr(torch.zeros(1, 1_000_000, dtype=dtype), torch.full((1, 1_000_000), full))
    assert value.item() == pytest.approx(log(1_000_001), rel=1e-5)


def test_small_negative_part_survives_beside_large_positives():
    """All labels minus the positives would cancel: a known implementation returns -1.1 for such a
    row.
    """
    logits = torch.tensor([[40.0, 38.0, -3.0, -4.0]], dtype=torch.float64)
    target = torch.tensor([[1.0, 1.0, 0.0, 0.0]], dtype=torch.float64)
    expected = reference(logits[0].tolist(), target[0].tolist(), [1] * 4, [1] * 4, [1] * 4, 0.0)
    assert zlpr(logits, target).item() == pytest.approx(expected, rel=1e-10)
    assert zlpr(logits.float(), target).item() == pytest.approx(expected, rel=1e-5)


def test_gradient_vanishes_where_the_target_is_the_sigmoid_of_twice_the_score():
    logits = torch.tensor([[0.3, -1.2, 2.0]], dtype=torch.float64, requires_grad=True)
    zlpr(logits, torch.sigmoid(2 * logits).detach()).sum().backward()
    torch.testing.assert_close(
        logits.grad, torch.zeros(1, 3, dtype=torch.float64), rtol=0, atol=1e-12
    )


def test_row_without_any_term_is_zero():
    logits = torch.tensor([[1e4, -1e4]], requires_grad=True)
    value = zlpr(logits, torch.tensor([[1.0, 0.0]]), mask=torch.zeros(1, 2, dtype=torch.bool))
    value.sum().backward()
    assert value.tolist() == [0.0]
    assert logits.grad.tolist() == [[0.0, 0.0]]


def test_weight_of_zero_takes_the_term_out_of_its_sum_only():
    logits = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    target = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    value = zlpr(logits, target, positive_weight=torch.zeros(2).double())
    assert value.item() == pytest.approx(np.log1p(np.exp(2)), rel=1e-10)


def test_takes_soft_targets_and_predicts_with_twice_the_score():
    assert ZLPRLoss.soft
    assert ZLPRLoss.link == "sigmoid2"
    assert not {"one", "many"} - set(ZLPRLoss.tasks)


def test_threshold_of_each_label_is_learnt_with_dense_and_with_sparse_targets():
    logits = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64)
    target = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    sparse = SparseTarget(torch.tensor([0]), torch.tensor([0, 1]))
    moved = (logits - 0.3).requires_grad_()
    zlpr(moved, target).sum().backward()
    for given in (target, sparse):
        loss = ZLPRLoss(threshold=torch.nn.Parameter(torch.full((3,), 0.3, dtype=torch.float64)))
        assert len(list(loss.parameters())) == 1
        loss(logits, given).backward()
        torch.testing.assert_close(loss.threshold.grad, -moved.grad[0], rtol=1e-10, atol=1e-12)


def test_thresholds_of_labels_travel_with_the_module():
    assert ZLPRLoss(threshold=[0.1, 0.2]).state_dict()["threshold"].tolist() == pytest.approx(
        [0.1, 0.2]
    )
