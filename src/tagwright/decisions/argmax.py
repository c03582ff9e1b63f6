"""The one label with the highest score; for labels that exclude each other."""

from typing import Any

import numpy as np

from tagwright.decisions import Decision


class Argmax(Decision):
    """Chooses exactly one label, the first of equals."""

    @classmethod
    def exactly_one(cls, **options: Any) -> bool:
        """Always."""
        return True

    def describe(self) -> str:
        """A sentence for the model card."""
        return "The label with the highest score."

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        chosen = np.zeros(logits.shape, bool)
        chosen[np.arange(len(logits)), logits.argmax(-1)] = True
        return chosen


PART = Argmax
