"""Every label whose probability is above one given value."""

import numpy as np

from tagwright.errors import SettingsError


class Fixed:
    """Chooses any number of labels; the same bar for all."""

    def __init__(self, *, probability: float = 0.5) -> None:
        if not 0 <= probability <= 1:
            raise SettingsError(f"decide.probability must lie in [0, 1], got {probability}")
        self.probability = probability

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        return probabilities > self.probability


PART = Fixed
