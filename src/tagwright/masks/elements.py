"""Bernoulli element mask of MaskLoss (A.3): labels that a text's own words speak for are not pushed
down.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from tagwright.errors import SettingsError
from tagwright.masks import Mask
from tagwright.masks._draw import check_draw, plain_rows
from tagwright.masks.dependencies import Elements, check_select, check_threshold, read_elements


@dataclass(frozen=True, kw_only=True)
class ElementMask(Mask):
    """Excuses the labels of each text that its words speak for, as
    `tagwright.masks.dependencies.excused` finds them.

    `elements` are words with their labels; without, they are found with the model folder `model`,
    or where that is "" with a teacher: those whose probability falls by more than `threshold`
    without the word, in `select` texts. With probability `plain_share` nothing is excused, drawn
    for each "step" or each "example".
    """

    by_words: ClassVar[bool] = True

    elements: Elements | None = None
    model: str = ""
    threshold: float = 0.5
    select: str = "correct"
    plain_share: float = 0.5
    draw: str = "step"

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        check_draw(self.plain_share, self.draw)
        check_threshold(self.threshold)
        check_select(self.select, "mask.select")

    def __call__(
        self,
        target: Tensor,
        generator: torch.Generator | None = None,
        *,
        excused: Tensor,
        of_step: Tensor | None = None,
    ) -> Tensor:
        """Target and excused (B, L) -> mask (B, L), True where a term takes part. A gold label
        always does.
        """
        plain = plain_rows(
            target, generator, plain_share=self.plain_share, draw=self.draw, of_step=of_step
        )
        return ~excused | (target > 0) | plain


def element_mask(
    *,
    words: str = "",
    model: str = "",
    threshold: float = 0.5,
    select: str = "correct",
    plain_share: float = 0.5,
    draw: str = "step",
) -> ElementMask:
    """The mask by the words in a CSV file (`words`), or by those that are found with a model.

    >>> mask_of = element_mask(plain_share=0.0)
    >>> mask_of(torch.tensor([[1.0, 0.0, 0.0]]), excused=torch.tensor([[False, True, False]]))
    tensor([[ True, False,  True]])
    """
    if words and model:
        raise SettingsError(
            "mask.words are the elements and mask.model would find them; give one of them, got"
            f" {words} and {model}"
        )
    given = read_elements(Path(words)) if words else None
    chosen = ElementMask(threshold=threshold, select=select, plain_share=plain_share, draw=draw)
    return replace(chosen, elements=given, model=model)


PART = element_mask
