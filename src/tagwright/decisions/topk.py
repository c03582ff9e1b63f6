"""The k labels with the highest scores."""

import numpy as np

from tagwright.arrays import Bools, Floats
from tagwright.decisions import Decision
from tagwright.errors import SettingsError


class TopK(Decision):
    """Chooses exactly k labels (all, where there are fewer); equals in the order of the labels."""

    def __init__(self, *, k: int = 3) -> None:
        self.check(k=k)
        self.k = k

    @classmethod
    def check(cls, *, k: int) -> None:
        """Refuse no label at all."""
        if k < 1:
            raise SettingsError(f"decide.k must be at least 1, got {k}")

    @classmethod
    def exactly_one(cls, *, k: int = 3) -> bool:
        """The highest alone is one."""
        return k == 1

    def describe(self) -> str:
        """A sentence for the model card."""
        return "The labels with the highest scores, always the same number."

    def choose(self, logits: Floats, probabilities: Floats) -> Bools:
        """Scores (n, L) -> bool (n, L)."""
        best = np.argsort(-logits, axis=-1, kind="stable")[:, : self.k]
        chosen = np.zeros(logits.shape, bool)
        np.put_along_axis(chosen, best, True, axis=-1)
        return chosen


PART = TopK
