"""Links: how a loss's logits become probabilities."""

import numpy as np
from scipy.special import expit, softmax


def probabilities(logits: np.ndarray, link: str, *, exclusive: bool = False) -> np.ndarray:
    """Probabilities (n, L) of logits (n, L). Where labels exclude each other, rows sum to 1.

    >>> probabilities(np.array([[0.0, 0.0]]), "softmax")
    array([[0.5, 0.5]])
    """
    if link == "softmax":
        return softmax(logits, axis=-1)
    values = expit(2 * logits if link == "sigmoid2" else logits)
    if not exclusive:
        return values
    return values / np.maximum(values.sum(-1, keepdims=True), np.finfo(values.dtype).tiny)
