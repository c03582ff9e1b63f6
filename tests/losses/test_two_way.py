"""two_way: gold above the rest of its text, and of its label."""

import torch

from tagwright.losses import two_way


def test_text_without_labels_counts_in_the_columns_only():
    logits = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
    target = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    by_text = torch.log1p(torch.exp(logits[0, 1] - logits[0, 0]))
    by_label = torch.log1p(torch.exp(logits[1, 0] - logits[0, 0]))
    torch.testing.assert_close(
        two_way(logits, target, positive_temperature=1.0)[0], by_text + by_label
    )


def test_batch_without_any_label_is_zero():
    assert two_way(torch.ones(2, 3), torch.zeros(2, 3)).tolist() == [0.0]
