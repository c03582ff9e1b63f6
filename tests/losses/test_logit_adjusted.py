"""logit_adjusted: frequent labels must win by more."""

import torch

from tagwright.losses import LogitAdjustedLoss, cross_entropy, logit_adjusted

LOGITS, TARGET = torch.tensor([[1.0, -2.0, 0.5]]), torch.tensor([[0.0, 0.0, 1.0]])


def test_equal_shares_and_tau_of_zero_leave_cross_entropy():
    for settings in (
        {"prior": torch.full((3,), 1 / 3)},
        {"prior": torch.tensor([0.8, 0.1, 0.1]), "tau": 0.0},
    ):
        torch.testing.assert_close(
            logit_adjusted(LOGITS, TARGET, **settings), cross_entropy(LOGITS, TARGET)
        )


def test_rare_gold_label_costs_more_than_a_frequent_one():
    rare, frequent = (
        LogitAdjustedLoss(counts)(LOGITS, TARGET) for counts in ([8, 1, 1], [1, 1, 8])
    )
    assert rare > frequent


def test_label_that_train_lacks_is_finite():
    assert LogitAdjustedLoss([5, 0, 0])(LOGITS, TARGET).isfinite()
