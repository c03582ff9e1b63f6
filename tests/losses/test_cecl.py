"""cecl: cross-entropy and a term for every other label."""

import torch

from tagwright.losses import cecl, cross_entropy

LOGITS = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]).double()
TARGET = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).double()


def test_without_the_terms_of_others_it_is_cross_entropy():
    found = cecl(LOGITS, TARGET, negative_weight=torch.zeros(3).double())
    torch.testing.assert_close(found, cross_entropy(LOGITS, TARGET))


def test_positive_scale_multiplies_the_gold_term_only():
    torch.testing.assert_close(
        cecl(LOGITS, TARGET, positive_scale=12) - cecl(LOGITS, TARGET),
        11 * cross_entropy(LOGITS, TARGET),
    )


def test_lone_label_costs_nothing():
    assert cecl(torch.tensor([[5.0]]), torch.tensor([[1.0]])).tolist() == [0.0]
