"""Every label whose logit is above 0: the natural decision of ZLPR, and p > 0.5 of a sigmoid."""

import numpy as np


class Zero:
    """Chooses any number of labels, without a threshold to fit."""

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        return logits > 0


PART = Zero
