"""Regularizers: what is learnt or held beside the objective. Each stands around
`fit.learner.Learner`, or another.
"""

from typing import TYPE_CHECKING, ClassVar, Generic

from tagwright.registry import Kind, P

if TYPE_CHECKING:
    import torch

    from tagwright.batches.rows import Batch
    from tagwright.training.learner import BatchLoss

__all__ = ["KIND", "Regularizer"]


class Regularizer(Generic[P]):
    """What every regularizer derives from: it stands around `learn`, and is called in its place."""

    depth: ClassVar[int] = 0  # one of a higher depth stands outside of those of a lower

    @staticmethod
    def check(*settings: P.args, **options: P.kwargs) -> None:
        """Refuse settings that it cannot work with, before training: raise a SettingsError.

        `settings` are those of each head, what the heads share included; `options` are its own, all
        of them.
        """

    def __call__(self, batch: "Batch", generator: "torch.Generator") -> "BatchLoss":
        """The outcome of a batch: the value to learn from, with a row of logits for each of its
        rows.
        """
        raise NotImplementedError


def _sections() -> frozenset[str]:
    from tagwright.settings.sections import PART_SECTIONS, PLAIN_SECTIONS

    return frozenset({*PART_SECTIONS, *PLAIN_SECTIONS, "objective"})


KIND = Kind(
    title="regularizer",
    facts={
        "learn": (
            "what it stands around: a function of a batch and a generator that gives an Outcome"
        ),
        "network": "the network that is trained",
        "objectives": "what each head learns by, {name: HeadObjective}",
    },
    base=Regularizer,
    reserved=_sections,  # a regularizer is a section of its own
)
