"""What a loss writes grows with the number of labels, and no faster: counted in elements, not in
seconds.
"""

from importlib import import_module
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tagwright.losses import SparseTarget

ROWS, GOLD = 3, 10


class Written(TorchDispatchMode):
    """Counts the elements of everything that operations return, and keeps the largest."""

    def __init__(self) -> None:
        super().__init__()
        self.total, self.largest = 0, 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        for one in result if isinstance(result, tuple | list) else [result]:
            if isinstance(one, torch.Tensor):
                self.total += one.numel()
                self.largest = max(
                    self.largest, one.untyped_storage().nbytes() // one.element_size()
                )
        return result


def written(name: str, labels: int, *, sparse: bool = False) -> Written:
    function = getattr(import_module(f"tagwright.losses.{name}"), name)
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(ROWS, labels, generator=generator, requires_grad=True)
    target = torch.zeros(ROWS, labels)
    target[:, :GOLD] = 1
    given = (
        SparseTarget(torch.arange(GOLD).repeat(ROWS), torch.arange(ROWS + 1) * GOLD)
        if sparse
        else target
    )
    with Written() as count:
        function(logits, given).sum().backward()
    return count


@pytest.mark.parametrize("name", ["ranking", "warp", "lsep", "bpmll", "zlpr", "bce", "cecl"])
def test_eight_times_the_labels_write_eight_times_as_much(name: str):
    small, large = written(name, 1024), written(name, 8192)
    assert large.total < 8.5 * small.total
    assert large.largest <= ROWS * (8192 + 1)  # never a pair of labels


@pytest.mark.parametrize(
    "name", ["ranking", "warp", "lsep", "zlpr", "bce", "cross_entropy", "focal"]
)
def test_sparse_target_is_never_a_whole_matrix(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tagwright.loss_math.blocks.CELLS", {"cpu": 2048})
    labels = 2048
    count = written(name, labels, sparse=True)
    # the gradient is (B, L) and has to be; a target of that size would be a second one, and of its
    # own storage
    assert count.largest <= ROWS * labels
    assert written(name, 8 * labels, sparse=True).total < 8.5 * count.total
