"""bpmll: a ranking without an end."""

import torch

from tagwright.losses import bpmll


def test_better_ranking_falls_without_end():
    target = torch.tensor([[1.0, 0.0]])
    values = [bpmll(torch.tensor([[gap, 0.0]]), target).item() for gap in (0.0, 10.0, 100.0)]
    assert values == [0.0, -10.0, -100.0]
