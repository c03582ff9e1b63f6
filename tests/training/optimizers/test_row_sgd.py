"""Plain gradient steps, sparse or dense, with decay."""

import pytest
import torch
from torch import nn

from tagwright.errors import SettingsError
from tagwright.training.optimizers.row_sgd import RowSGD


def stepped(gradient: torch.Tensor, start: torch.Tensor, **settings: float) -> torch.Tensor:
    weight = nn.Parameter(start.clone())
    weight.grad = gradient
    RowSGD([weight], **settings).step()
    return weight.detach()


def test_sparse_step_is_the_dense_one():
    start, dense = torch.arange(8.0).reshape(4, 2), torch.tensor([[0.0, 0], [1, 2], [0, 0], [3, 4]])
    for decay in (0.0, 0.1):
        sparse = stepped(dense.to_sparse(1), start, lr=0.5, weight_decay=decay)
        assert torch.equal(sparse, stepped(dense, start, lr=0.5, weight_decay=decay))
        torch.testing.assert_close(sparse, (1 - 0.5 * decay) * start - 0.5 * dense)


def test_bias_does_not_decay():
    assert stepped(torch.zeros(3), torch.ones(3), lr=0.5, weight_decay=0.1).tolist() == [1, 1, 1]


def test_closure_is_called_and_its_loss_returned():
    weight = nn.Parameter(torch.ones(2, 2))
    assert RowSGD([weight], lr=0.1).step(lambda: 3.0) == 3.0


@pytest.mark.parametrize("settings", [{"lr": -1.0}, {"lr": 1.0, "weight_decay": -1.0}])
def test_negative_settings_are_refused(settings: dict[str, float]):
    with pytest.raises(SettingsError, match=">= 0"):
        RowSGD([nn.Parameter(torch.ones(1))], **settings)
