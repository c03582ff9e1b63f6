"""bce against eq. 14 of ZLPR and eq. 2 of MaskLoss, written as loops in 40-digit arithmetic."""

import json
from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np
import pytest
import torch

from tagwright.losses import BinaryCrossEntropyLoss, bce

getcontext().prec = 40
VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"

# logits, labels, value and gradient of eq. 14
CASES = [
    (
        [-2.0, 1.5, 0.25],
        [1, 1, 0],
        3.1542807089045684,
        [-0.8807970779778824, -0.18242552380635635, 0.5621765008857981],
    ),
    (
        [0.5, -1.0, 2.0],
        [1, 1, 1],
        1.914266682741302,
        [-0.3775406687981454, -0.7310585786300049, -0.11920292202211769],
    ),
    ([-10000.0, 10000.0, 0.5], [1, 0, 1], 20000.47407698418, [-1.0, 1.0, -0.3775406687981454]),
]


def published() -> list[tuple]:
    """The papers' whole list where it lies beside the project."""
    if not VECTORS.exists():
        return []
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["bce_eq14"]["cases"]
    return [
        (case["logits"], case["labels"], case["expected"], case["grad_logits"]) for case in cases
    ]


def reference(logits, target, mask, positive, negative) -> float:
    """-w⁺ p log σ(s) - w⁻ (1 - p) log(1 - σ(s)), summed over the labels that take part."""
    total = Decimal(0)
    for s, p, part, gain, cost in zip(logits, target, mask, positive, negative):
        if part:
            up, down = (1 + Decimal(-s).exp()).ln(), (1 + Decimal(s).exp()).ln()
            total += Decimal(gain) * Decimal(p) * up + Decimal(cost) * (1 - Decimal(p)) * down
    return float(total)


@pytest.mark.parametrize(("logits", "labels", "value", "slope"), [*CASES, *published()])
def test_value_and_gradient_are_those_of_the_paper(
    logits: list, labels: list, value: float, slope: list
):
    scores = torch.tensor([logits], dtype=torch.float64, requires_grad=True)
    loss = bce(scores, torch.tensor([labels], dtype=torch.float64))
    loss.sum().backward()
    torch.testing.assert_close(loss.tolist(), [value], rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(scores.grad[0].tolist(), slope, rtol=1e-10, atol=1e-10)


def test_random_cases_agree_with_the_loops():
    for seed in range(200):
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
        expected = [reference(*row) for row in zip(logits, target, mask, positive, negative)]
        scores, truth, part = map(torch.as_tensor, (logits, target, mask))
        values = bce(scores, truth, mask=part, **weights)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10, err_msg=f"seed {seed}")


def test_empty_label_set_has_negative_terms_only():
    value = bce(
        torch.tensor([[2.0, -1.0]], dtype=torch.float64), torch.zeros(1, 2, dtype=torch.float64)
    )
    assert value.item() == pytest.approx(np.log1p(np.exp(2)) + np.log1p(np.exp(-1)), rel=1e-10)


def test_row_without_any_term_is_zero():
    nothing = torch.zeros(1, 3, dtype=torch.bool)
    assert bce(torch.ones(1, 3), torch.ones(1, 3), mask=nothing).tolist() == [0.0]


def test_mean_over_labels_counts_the_masked_ones():
    logits, target = torch.zeros(2, 4, dtype=torch.float64), torch.eye(4, dtype=torch.float64)[:2]
    mask = torch.tensor([[True, False, True, True], [True, True, True, True]])
    values = BinaryCrossEntropyLoss(labels="mean", reduction="none")(logits, target, mask=mask)
    torch.testing.assert_close(values.tolist(), [3 / 4 * np.log(2), np.log(2)], rtol=1e-10, atol=0)


def test_sum_over_labels_is_the_default():
    logits, target = torch.zeros(3, 5, dtype=torch.float64), torch.zeros(3, 5, dtype=torch.float64)
    assert BinaryCrossEntropyLoss()(logits, target).item() == pytest.approx(
        5 * np.log(2), rel=1e-10
    )


def test_refuses_another_way_to_gather_labels():
    with pytest.raises(ValueError, match="labels must be sum or mean, got 'median'"):
        BinaryCrossEntropyLoss(labels="median")(torch.zeros(1, 2), torch.zeros(1, 2))


def test_confident_right_answer_keeps_its_last_digits():
    """softplus must not round e^-30 away beside 1."""
    value = bce(
        torch.tensor([[30.0, -35.0]], dtype=torch.float64),
        torch.tensor([[1.0, 0.0]], dtype=torch.float64),
    )
    assert value.item() == pytest.approx(float(Decimal(-30).exp() + Decimal(-35).exp()), rel=1e-10)


def test_takes_soft_targets_of_any_task():
    assert BinaryCrossEntropyLoss.soft
    assert BinaryCrossEntropyLoss.link == "sigmoid"
    assert set(BinaryCrossEntropyLoss.tasks) == {"one", "many", "tokens"}
