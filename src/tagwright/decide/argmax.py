"""The one label with the highest score; for labels that exclude each other."""

import numpy as np


class Argmax:
    """Chooses exactly one label, the first of equals."""

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        chosen = np.zeros(logits.shape, bool)
        chosen[np.arange(len(logits)), logits.argmax(-1)] = True
        return chosen


PART = Argmax
