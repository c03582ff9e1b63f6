"""cross_entropy against -Σ p log softmax (ZLPR eq. 2 for one gold label), as loops in 40-digit
arithmetic.
"""

from decimal import Decimal, getcontext
from math import log

import numpy as np
import pytest
import torch

from tagwright.losses import CrossEntropyLoss, cross_entropy

getcontext().prec = 40


def reference(logits, target, mask, positive, negative) -> float:
    """-Σ w⁺ p log(e^s / Z), Z over the labels that take part, what is not gold of them weighing w⁻
    in it.

    Targets p take up the mass of those that are masked, each up to 1.
    """
    mass = sum((Decimal(p) for p in target), Decimal(0))
    kept = sum((Decimal(p) for p, part in zip(target, mask) if part), Decimal(0))
    share = {
        k: min(Decimal(target[k]) * mass / kept, Decimal(1)) if kept else kept
        for k in np.flatnonzero(mask)
    }
    weight = {k: p + (1 - p) * Decimal(negative[k]) for k, p in share.items()}
    whole = sum((weight[k] * Decimal(logits[k]).exp() for k in share), Decimal(0))
    total = Decimal(0)
    for k, p in share.items():
        if p > 0:
            total += Decimal(positive[k]) * p * (whole.ln() - Decimal(logits[k]))
    return float(total)


def test_one_hot_rows_agree_with_the_loops():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 6), rng.integers(2, 14)
        logits = rng.normal(0, rng.choice([0.1, 3, 30, 1e4]), (rows, labels))
        target = np.eye(labels)[rng.integers(labels, size=rows)]
        mask = (rng.random((rows, labels)) < 0.7) | (target > 0)
        positive, negative = rng.exponential(size=(2, rows, labels))
        weights = {
            "positive_weight": torch.as_tensor(positive),
            "negative_weight": torch.as_tensor(negative),
        }
        for left_out in ([], ["positive_weight"], ["negative_weight"])[seed % 3]:
            weights.pop(left_out).fill_(1)  # for the reference too: they share memory
        expected = [reference(*row) for row in zip(logits, target, mask, positive, negative)]
        scores, truth, part = map(torch.as_tensor, (logits, target, mask))
        values = cross_entropy(scores, truth, mask=part, **weights)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10, err_msg=f"seed {seed}")


def test_soft_rows_agree_with_the_loops():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 6), rng.integers(2, 14)
        logits = rng.normal(0, rng.choice([0.1, 3, 30, 1e4]), (rows, labels))
        target = rng.dirichlet(np.ones(labels), rows) * rng.choice([1, 0.7])
        target[rng.random((rows, labels)) < 0.2] = 0
        mask = rng.random((rows, labels)) < 0.7
        positive = rng.exponential(size=labels)
        expected = [reference(*row, positive, np.ones(labels)) for row in zip(logits, target, mask)]
        scores, truth, part, gain = map(torch.as_tensor, (logits, target, mask, positive))
        values = cross_entropy(scores, truth, mask=part, positive_weight=gain)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10, err_msg=f"seed {seed}")


def test_multi_hot_rows_agree_with_the_loops():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 6), rng.integers(2, 14)
        logits = rng.normal(0, rng.choice([0.1, 3, 30]), (rows, labels))
        target = (rng.random((rows, labels)) < 0.5) * rng.choice([1, 0.75])
        mask = rng.random((rows, labels)) < 0.5
        positive, negative = rng.exponential(size=(2, rows, labels))
        expected = [reference(*row) for row in zip(logits, target, mask, positive, negative)]
        scores, truth, part, gain, cost = map(
            torch.as_tensor, (logits, target, mask, positive, negative)
        )
        values = cross_entropy(scores, truth, mask=part, positive_weight=gain, negative_weight=cost)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10, err_msg=f"seed {seed}")


def test_equal_scores_cost_the_logarithm_of_the_label_count():
    assert cross_entropy(
        torch.zeros(1, 7).double(), torch.eye(7).double()[2:3]
    ).item() == pytest.approx(log(7), rel=1e-10)


def test_masked_label_leaves_the_softmax():
    mask = torch.tensor([[True, False, True, True]])
    value = cross_entropy(torch.zeros(1, 4).double(), torch.eye(4).double()[:1], mask=mask)
    assert value.item() == pytest.approx(log(3), rel=1e-10)


def test_soft_mass_of_masked_labels_goes_to_those_that_remain():
    logits = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)
    mask = torch.tensor([[True, True, False]])
    soft = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64)
    moved = torch.tensor([[0.4, 0.6, 0.0]], dtype=torch.float64)
    value = cross_entropy(logits, soft, mask=mask)
    torch.testing.assert_close(value, cross_entropy(logits, moved, mask=mask), rtol=1e-10, atol=0)


@pytest.mark.parametrize("mask", [[[True, False, True]], [[False, False, False]]])
def test_row_whose_gold_label_is_masked_is_zero_and_has_no_gradient(mask: list):
    logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    value = cross_entropy(logits, torch.tensor([[0.0, 1.0, 0.0]]), mask=torch.tensor(mask))
    value.sum().backward()
    assert value.tolist() == [0.0]
    assert logits.grad.tolist() == [[0.0, 0.0, 0.0]]


def test_row_without_target_mass_is_zero_and_has_no_gradient():
    logits = torch.tensor([[1.0, -1e4]], requires_grad=True)
    value = cross_entropy(logits, torch.zeros(1, 2))
    value.sum().backward()
    assert value.tolist() == [0.0]
    assert logits.grad.tolist() == [[0.0, 0.0]]


def test_agrees_with_torch_on_class_numbers():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(41, 7, generator=generator, dtype=torch.float64)
    numbers = torch.randint(7, (41,), generator=generator)
    weight = torch.rand(7, generator=generator, dtype=torch.float64)
    expected = torch.nn.functional.cross_entropy(logits, numbers, weight=weight, reduction="sum")
    value = CrossEntropyLoss(reduction="sum")(
        logits, torch.eye(7).double()[numbers], positive_weight=weight
    )
    torch.testing.assert_close(value, expected, rtol=1e-10, atol=0)


def test_mean_divides_by_examples_not_by_label_weights():
    """torch divides by the weights of the gold labels; here the mean is that of the values."""
    weight = torch.tensor([3.0, 1.0], dtype=torch.float64)
    value = CrossEntropyLoss()(
        torch.zeros(2, 2).double(), torch.eye(2).double(), positive_weight=weight
    )
    assert value.item() == pytest.approx((3 * log(2) + log(2)) / 2, rel=1e-10)


def test_is_for_labels_that_exclude_each_other():
    assert CrossEntropyLoss.soft
    assert CrossEntropyLoss.link == "softmax"
    assert set(CrossEntropyLoss.tasks) == {"one", "tokens"}
