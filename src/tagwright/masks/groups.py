"""Bernoulli group mask of MaskLoss (eq. 3): labels that share a group with a gold label are not
pushed down.
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from tagwright.arrays import Bools
from tagwright.labels.groups import PREFIX, groups_of, said
from tagwright.masks import Mask
from tagwright.masks._draw import check_draw, plain_rows


class GroupMask(Mask):
    """Excuses every non-gold label that shares a group with a gold one.

    `membership` bool (L, G), dense or sparse: which label stands in which groups; one without a
    group excuses nobody. With probability `plain_share` (the paper's alpha) nothing is excused; the
    draw is made once a step, or for each example with `draw="example"`. `said` are sentences for a
    person.
    """

    def __init__(
        self,
        membership: Bools | csr_array,
        *,
        plain_share: float = 0.5,
        draw: str = "step",
        said: tuple[str, ...] = (),
    ) -> None:
        check_draw(plain_share, draw)
        # (2, P): label, its group
        self.pairs = torch.as_tensor(np.stack(membership.nonzero()), dtype=torch.int64)
        self.group_count = membership.shape[1]
        self.plain_share, self.draw, self.said = plain_share, draw, said

    def __call__(
        self,
        target: Tensor,
        generator: torch.Generator | None = None,
        *,
        of_step: Tensor | None = None,
    ) -> Tensor:
        """Target (B, L) -> mask (B, L), True where a term takes part. A gold label always does."""
        self.pairs = self.pairs.to(target.device)  # moved once
        labels, groups = self.pairs
        gold = target > 0
        # gold @ membership @ membership.T of a membership that is mostly empty, so by its P pairs:
        # (B, P) at most
        held = target.new_zeros(len(target), self.group_count, dtype=torch.float32)
        held = held.index_add(1, groups, gold[:, labels].float())
        near = target.new_zeros(target.shape, dtype=torch.float32).index_add(
            1, labels, held[:, groups]
        )
        plain = plain_rows(
            target, generator, plain_share=self.plain_share, draw=self.draw, of_step=of_step
        )
        return (near == 0) | gold | plain


def group_mask(
    label_names: Sequence[str],
    *,
    groups: str = PREFIX,
    separator: str = "auto",
    plain_share: float = 0.5,
    draw: str = "step",
) -> GroupMask:
    """The mask of these labels, by groups from their names ("prefix") or from a CSV or TOML file
    (its path).

    >>> mask_of = group_mask(["cs.AI", "cs.LG", "math.NA", "math.OC"], plain_share=0.0)
    >>> mask_of(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    tensor([[ True, False,  True,  True]])
    """
    found = groups_of(groups, label_names, separator=separator)
    grouped = np.count_nonzero(np.diff(csr_array(found.membership).indptr))
    summary = (
        f"mask: {grouped} of {len(label_names)} labels stand in {found.membership.shape[1]} groups"
    )
    by = f", by what stands before {found.separator!r}" if found.separator else ""
    return GroupMask(
        found.membership,
        plain_share=plain_share,
        draw=draw,
        said=(summary + by, *said(found, label_names)),
    )


PART = group_mask
