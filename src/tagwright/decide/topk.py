"""The k labels with the highest scores."""

import numpy as np

from tagwright.errors import SettingsError


class TopK:
    """Chooses exactly k labels (all, where there are fewer); equals in the order of the labels."""

    def __init__(self, *, k: int = 3) -> None:
        if k < 1:
            raise SettingsError(f"decide.k must be at least 1, got {k}")
        self.k = k

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        best = np.argsort(-logits, axis=-1, kind="stable")[:, : self.k]
        chosen = np.zeros(logits.shape, bool)
        np.put_along_axis(chosen, best, True, axis=-1)
        return chosen


PART = TopK
