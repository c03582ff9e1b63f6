"""The one label with the highest score; for labels that exclude each other."""

import numpy as np

from tagwright.arrays import Bools, Floats
from tagwright.decisions import Decision


class Argmax(Decision):
    """Chooses exactly one label, the first of equals."""

    @classmethod
    def exactly_one(cls, **options: object) -> bool:
        """Always."""
        return True

    def describe(self) -> str:
        """A sentence for the model card."""
        return "The label with the highest score."

    def choose(self, logits: Floats, probabilities: Floats) -> Bools:
        """Scores (n, L) -> bool (n, L)."""
        chosen = np.zeros(logits.shape, bool)
        chosen[np.arange(len(logits)), logits.argmax(-1)] = True
        return chosen


PART = Argmax
