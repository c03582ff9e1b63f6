"""What goes over the wire, and how a start is told from another; that sums are right,
`test_ranks.py` holds.
"""

import pytest
import torch

from tagwright.training import _gradients
from tagwright.training._gradients import start_of


def test_buckets_hold_every_gradient_in_order_one_type_each(monkeypatch):
    monkeypatch.setattr(_gradients, "BUCKET", 40)
    gradients = [torch.zeros(count) for count in (4, 6, 3, 40, 1)] + [
        torch.zeros(2, dtype=torch.bfloat16)
    ]
    found = list(_gradients._buckets(gradients))
    assert [[len(gradient) for gradient in bucket] for bucket in found] == [
        [4, 6],
        [3],
        [40],
        [1],
        [2],
    ]


def test_no_gradients_make_no_bucket():
    assert list(_gradients._buckets([])) == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_start_is_told_by_a_single_bit(dtype):
    tensor = torch.tensor([[1.0, -2.0], [0.0, 3.0]], dtype=dtype)
    other = tensor.clone()
    assert start_of([tensor.T]) == start_of([other])
    other[1, 0] = -0.0
    assert start_of([tensor]) != start_of([other])


def test_whole_numbers_and_flags_count_too():
    assert start_of([torch.tensor([2, 3]), torch.tensor([True, True])]) == [5, 2]
