"""Links: how a loss's logits become probabilities."""

import numpy as np
from scipy.special import expit, log_expit, softmax

from tagwright.errors import SettingsError, unknown

SCALES = {"sigmoid": 1, "sigmoid2": 2, "none": 1}  # ZLPR eq. 35: sigmoid(2s); "none" promises only an order


def probabilities(logits: np.ndarray, link: str, *, exclusive: bool = False) -> np.ndarray:
    """Probabilities (n, L) of logits (n, L). Where labels exclude each other, rows sum to 1.

    >>> probabilities(np.array([[0.0, 0.0]]), "softmax")
    array([[0.5, 0.5]])
    """
    if link == "softmax":
        return softmax(logits, axis=-1)
    if link not in SCALES:
        raise SettingsError(unknown("link", link, ("softmax", *SCALES)))
    logits = SCALES[link] * logits
    # in log space, where a row of tiny probabilities still has a sum
    return softmax(log_expit(logits), axis=-1) if exclusive else expit(logits)
