"""distribution_balanced: a rare gold label weighs more than a frequent one beside it."""

import torch

from tagwright.losses import distribution_balanced


def test_rare_gold_label_is_pushed_harder_than_the_frequent_one_beside_it():
    logits = torch.zeros(1, 2, requires_grad=True)
    counts = torch.tensor([90, 3])
    distribution_balanced(
        logits, torch.ones(1, 2), label_counts=counts, row_count=100, kappa=0.0
    ).sum().backward()
    assert logits.grad[0, 1] < 3 * logits.grad[0, 0] < 0


def test_count_of_nothing_or_of_all_is_finite():
    value = distribution_balanced(
        torch.zeros(1, 2), torch.ones(1, 2), label_counts=torch.tensor([0, 100]), row_count=100
    )
    assert value.isfinite().all()
