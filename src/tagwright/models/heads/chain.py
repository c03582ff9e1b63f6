"""The chain head: a label's logit looks at a text's features and at what was decided about the
labels before it.

Classifier chains, Read et al., Machine Learning 85 (2011). Takes sparse rows; learnt by
`fit.optimizer = "exact"`.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from tagwright.arrays import Ints
from tagwright.errors import SettingsError, some
from tagwright.models.heads import Head
from tagwright.models.heads._sparse_linear import SparseLinear
from tagwright.models.hidden import Hidden


class Chain(Head):
    """s_i = x·w_i + b_i + Σ links[j, i] over the labels j before i whose s_j > 0, which is a
    probability above 0.5.

    `order` names all labels, the first of the chain first; left empty, the seed draws one. `links`
    is (L, L), and 0 where j does not come before i.
    """

    order: Tensor

    def __init__(
        self,
        width: int,
        label_count: int,
        sparse: bool,
        bias: Tensor,
        label_names: Sequence[str],
        *,
        order: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        if not sparse:
            raise SettingsError(
                "a chain of labels is solved over features that do not change; take --encoder bow"
            )
        self.label_count = label_count
        self.linear = SparseLinear(width, label_count)
        self.linear.bias = nn.Parameter(bias.float())
        self.links = nn.Parameter(torch.zeros(label_count, label_count))
        self.register_buffer(
            "order", _ids(order, label_names) if order else torch.randperm(label_count)
        )

    def forward(self, hidden: Hidden) -> Tensor:
        """Hidden -> logits (B, L), one label after the other."""
        logits: Tensor = self.linear(hidden.pooled)
        for label in self.order.tolist():
            # moves the labels after it alone
            logits = logits + (logits[:, label, None] > 0) * self.links[label]
        return logits

    def before(self, label: int) -> Ints:
        """Ids of the labels before this one, the first of the chain first."""
        order: Ints = self.order.cpu().numpy()
        return order[: int(np.flatnonzero(order == label)[0])]


def _ids(order: Sequence[str], names: Sequence[str]) -> Tensor:
    place, given = {name: number for number, name in enumerate(names)}, list(map(str, order))
    missing, strange = sorted({*names} - {*given}), sorted({*given} - {*names})
    if missing or strange or len(given) != len(names):
        found = [f"{some(missing)} missing"] * bool(missing) + [f"{some(strange)} unknown"] * bool(
            strange
        )
        raise SettingsError(
            f"head.order must name every label once, got {' and '.join(found) or 'some twice'}"
        )
    return torch.tensor([place[name] for name in given])


PART = Chain
