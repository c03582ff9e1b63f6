"""adaptive_threshold: the last logit is the threshold."""

import torch

from tagwright.losses import adaptive_threshold


def test_text_without_labels_only_asks_the_others_to_stay_below():
    logits = torch.tensor([[0.5, -1.0, 0.25]])
    expected = torch.logsumexp(logits, -1) - logits[:, 2]
    torch.testing.assert_close(adaptive_threshold(logits, torch.zeros(1, 2)), expected)


def test_threshold_is_raised_by_others_and_lowered_by_gold():
    for gold, sign in ((0.0, -1), (1.0, 1)):
        logits = torch.zeros(1, 3, requires_grad=True)
        adaptive_threshold(logits, torch.full((1, 2), gold)).sum().backward()
        assert torch.sign(logits.grad[0, 2]) == sign
