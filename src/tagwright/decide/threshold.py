"""Per-label thresholds that maximise F1 on held-out scores, shrunk towards the model's own belief where positives are few.

The best cut of a label with three positives is luck. So the F1 that is maximised counts every held-out text as positive
with the share w * truth + (1 - w) * p, where p is the calibrated probability and w = positives / (positives + shrink):
a label without positives gets the cut that is best if the model is right, a frequent one the cut that was best.
"""

import numpy as np

from tagwright.errors import ShapeError


def fit_thresholds(scores: np.ndarray, truth: np.ndarray, *, shrink: float = 10.0) -> np.ndarray:
    """Logits (n, L) and truth (n, L) -> thresholds (L,): a label is chosen where its logit is above.

    `shrink` is the number of positives at which truth and belief weigh the same; 0 takes the truth alone.
    No positives in the whole matrix: thresholds are infinite, nothing is ever chosen.
    """
