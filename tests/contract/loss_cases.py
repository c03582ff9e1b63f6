"""What the contract tests of losses share: a loss of one file, and examples that fit it."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tagwright import registry
from tagwright.losses import SparseTarget

NAMES = registry.names("losses")
ROWS, LABELS = 7, 11


class Loss:
    """The function and the module of one file, and examples that fit them."""

    def __init__(self, name: str, device: str = "cpu") -> None:
        self.name, self.device = name, device
        self.plain: Callable[..., Tensor] = getattr(import_module(f"tagwright.losses.{name}"), name)
        self.module: Any = registry.find("losses", name).factory
        self.exclusive = "many" not in self.module.tasks

    def function(self, logits: Tensor, target: Tensor | SparseTarget, **extras: Any) -> Tensor:
        """The loss's function, with the facts of the data that it asks for."""
        return self.plain(
            logits, target, **self.facts(logits.shape[-1] - self.module.extra_logits), **extras
        )

    def made(self, labels: int = LABELS, **settings: Any) -> nn.Module:
        """The loss's module."""
        wanted = inspect.signature(self.module).parameters
        facts = {"label_counts": np.arange(1, labels + 1), "row_count": 2 * labels}
        return self.module(**{k: v for k, v in facts.items() if k in wanted}, **settings).to(
            self.device
        )

    def facts(self, labels: int) -> dict[str, Any]:
        counts = torch.arange(1, labels + 1, device=self.device)
        facts = {
            "label_counts": counts,
            "row_count": 2 * labels,
            "prior": counts.float() / counts.sum(),
        }
        wanted = inspect.signature(self.plain).parameters
        return {
            k: v
            for k, v in facts.items()
            if k in wanted and wanted[k].default is inspect.Parameter.empty
        }

    def logits(self, rows: int = ROWS, labels: int = LABELS, *, seed: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        width = labels + self.module.extra_logits
        return 2 * torch.randn(rows, width, generator=generator, dtype=torch.float64).to(
            self.device
        )

    def target(self, rows: int = ROWS, labels: int = LABELS, *, seed: int = 1) -> Tensor:
        """One-hot rows, or label sets of which the first is empty and the second full."""
        generator = torch.Generator().manual_seed(seed)
        if self.exclusive:
            hot = torch.randint(labels, (rows,), generator=generator)
            return nn.functional.one_hot(hot, labels).double().to(self.device)
        target = (torch.rand(rows, labels, generator=generator) < 0.3).double()
        target[:1], target[1:2] = 0, 1
        return target.to(self.device)

    def extras(self, target: Tensor, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
        """A mask that keeps the gold label of exclusive labels, and weights."""
        generator = torch.Generator().manual_seed(2)
        mask = (torch.rand(target.shape, generator=generator) < 0.7).to(self.device)
        positive, negative = (
            torch.rand(2, target.shape[1], generator=generator, dtype=dtype) + 0.5
        ).to(self.device)
        mask |= self.exclusive & (target > 0)
        return {"mask": mask, "positive_weight": positive, "negative_weight": negative}

    def slope(self, logits: Tensor, target: Tensor, **extras: Tensor) -> Tensor:
        """The gradient of the sum of the values."""
        logits = logits.detach().requires_grad_()
        return torch.autograd.grad(self.function(logits, target, **extras).sum(), logits)[0]


def same(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance, check_dtype=False)


def cells(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Column numbers, offsets and values of the cells that are not 0."""
    rows, ids = matrix.nonzero(as_tuple=True)
    ends = torch.bincount(rows, minlength=len(matrix)).cumsum(0)
    return ids, nn.functional.pad(ends, (1, 0)), matrix[rows, ids]


SPARSE = [name for name in NAMES if getattr(Loss(name).module, "sparse", True)]
