"""Masks: which label terms take part."""

from typing import ClassVar, Generic

from torch import Tensor

from tagwright.registry import Kind, P

__all__ = ["KIND", "Mask"]


class Mask(Generic[P]):
    """What every part makes: a target in, the label terms that take part out."""

    by_words: ClassVar[bool] = False  # it is told which labels a text's words excuse
    draw: str = "example"  # "step": it draws once a step, and may be told the draw as `of_step`
    said: tuple[str, ...] = ()  # sentences for a person, shown before training

    def __call__(self, *given: P.args, **facts: P.kwargs) -> Tensor:
        """Target (B, L) and a generator -> bool (B, L), False where a term is left out.

        A gold label always takes part. What is drawn comes of the generator, on the target's
        device. One that draws once a step may be told `of_step` (), the step's draw from 0 to 1.
        One `by_words` is told `excused`, bool (B, L).
        """
        raise NotImplementedError


KIND = Kind(title="mask", facts={"label_names": "the names of the labels"})
