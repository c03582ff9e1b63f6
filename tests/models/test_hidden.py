"""Logits of windows pooled to logits of texts."""

import pytest
import torch

from tagwright.models.hidden import Windows, over_windows


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_windows_of_a_text_are_pooled_apart_from_others(pooling):
    logits = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    counts = torch.tensor([3, 1, 2, 1])
    found = over_windows(logits, Windows(counts, pooling))
    parts = torch.split(logits, counts.tolist())
    expected = torch.stack([part.mean(0) if pooling == "mean" else part.amax(0) for part in parts])
    torch.testing.assert_close(found, expected)
    assert torch.autograd.gradcheck(lambda x: over_windows(x, Windows(counts, pooling)), (logits,))
