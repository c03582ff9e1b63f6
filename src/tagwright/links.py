"""Links: how a loss's logits become probabilities."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, softmax

from tagwright.arrays import Bools, Floats
from tagwright.errors import SettingsError, unknown

SCALES = {"sigmoid": 1, "sigmoid2": 2, "threshold_class": 1, "none": 1}  # ZLPR eq. 35: sigmoid(2s)


class Calibration(NamedTuple):
    """What logits are worth as log odds: of a loss whose optimum is not the probability.

    The link "none" promises only an order, so its line, slope * s + offset, is fitted on dev.
    `gamma` is that of focal loss: the nearer it is to being right the less it learns, so that σ(s)
    is less sure than the data are.
    """

    slope: float = 1.0
    offset: float = 0.0
    gamma: float = 0.0

    def log_odds(self, logits: Floats) -> Floats:
        """Logits (n, L) -> log odds (n, L), in the same order."""
        if self == IDENTITY:
            return logits
        return self.slope * unfocused(logits, self.gamma) + self.offset

    def bounded(self) -> "Calibration":
        """The same, if its log odds of finite logits are finite and in the same order; else a
        ValueError.
        """
        for name, (least, most) in BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(
                    f"the {name} of a calibration must be from {least:g} to {most:g}, got"
                    f" {getattr(self, name):g}"
                )
        return self


IDENTITY = Calibration()
# far beyond what is fitted (a slope of e^20, an offset of 20) and trained with, and far below where
# the logits of a float32 model overflow
BOUNDS = {"slope": (1e-9, 1e9), "offset": (-1e3, 1e3), "gamma": (0.0, 1e6)}


def unfocused(logits: Floats, gamma: float) -> Floats:
    """The log odds at which focal loss has its least mean at these logits
    (arxiv.org/abs/2011.09172).

    With q = σ(s) that is where the odds are q^γ (q - γ (1 - q) log(1 - q)) to the same with 1 - q
    in place of q; written in e^-|s|, which neither overflows nor cancels.

    >>> unfocused(np.array([-1.0, 0.0, 1.0]), 2.0).round(3)
    array([-2.682,  0.   ,  2.682])
    """
    size = np.abs(logits)
    rest = np.exp(-size)
    rest = np.maximum(rest, np.finfo(rest.dtype).tiny)  # of 0, log1p(rest) / rest is no number
    log_sum = np.log1p(rest)
    found = (
        (gamma + 1) * size
        + np.log1p(gamma * rest * (size + log_sum))
        - np.log1p(gamma * log_sum / rest)
    )
    return np.sign(logits) * found


def probabilities(
    logits: Floats, link: str, *, exclusive: bool = False, calibration: Calibration = IDENTITY
) -> Floats:
    """Probabilities (n, L) of logits (n, L). Where labels exclude each other, rows sum to 1.

    >>> probabilities(np.array([[0.0, 0.0]]), "softmax")
    array([[0.5, 0.5]])
    """
    if link not in ("softmax", *SCALES):
        raise SettingsError(unknown("link", link, ("softmax", *SCALES)))
    if link == "softmax":
        return softmax(logits, axis=-1)
    odds = calibration.log_odds(SCALES[link] * logits)
    if not exclusive:
        return expit(odds)
    # in log space, where a row of tiny probabilities still has a sum
    return softmax(odds if link == "none" else log_expit(odds), axis=-1)


def log_terms(link: str, *, exclusive: bool) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """Logits -> logs of what each label adds to the sum that `probabilities` divides by; None where
    it does not.
    """
    if link == "softmax":
        return lambda logits: logits
    return (lambda logits: F.logsigmoid(SCALES[link] * logits)) if exclusive else None


def some_probabilities(
    logits: Floats, log_sum: Floats | None, link: str, calibration: Calibration = IDENTITY
) -> Floats:
    """`probabilities` (n, k) of some of a text's labels; `log_sum` (n,) is that of `log_terms` over
    all of them.

    Such a sum is of logits as they are: where there is one, no calibration counts.
    """
    if log_sum is None:
        return expit(calibration.log_odds(SCALES[link] * logits))
    terms = logits if link == "softmax" else log_expit(SCALES[link] * logits)
    return np.minimum(np.exp(terms - log_sum[:, None]), 1)


def calibrated(logits: Floats, truth: Bools, *, exclusive: bool = False) -> Calibration:
    """The line that makes `truth` (n, L), bool, likeliest (Platt 1999); a slope alone where labels
    exclude each other.

    The targets are Platt's, a little short of 0 and 1, so that a few rows that are all in order
    give no endless slope.

    >>> truth = np.array([[True], [True], [False], [False]])
    >>> calibrated(np.array([[8.0], [-1.0], [1.0], [-8.0]]), truth).slope < 1
    True
    """
    logits = logits.astype(np.float64)
    target = _smoothed(truth, exclusive=exclusive)

    def cost(line: Floats) -> float:
        slope = np.exp(line[0])  # positive: a calibration never turns the order
        if exclusive:
            return -float((log_softmax(slope * logits, axis=-1) * target).sum(-1).mean())
        values = slope * logits + line[1]
        return -float((target * log_expit(values) + (1 - target) * log_expit(-values)).mean())

    start = np.array([-np.log(max(float(logits.std()), 1e-6)), 0.0])
    found = minimize(
        cost,
        start[: 1 if exclusive else 2],
        method="L-BFGS-B",
        bounds=[(-20, 20)] * (2 - exclusive),
    )
    return Calibration(float(np.exp(found.x[0])), 0.0 if exclusive else float(found.x[1]))


def _smoothed(truth: Bools, *, exclusive: bool) -> Floats:
    """Truth (n, L) -> targets (n, L): means under one row more of every kind. A row without a label
    stays without.
    """
    rows, labels = truth.shape
    if exclusive:
        return np.where(truth, rows + 1, 1) / (rows + labels) * truth.any(-1, keepdims=True)
    positives = np.count_nonzero(truth)
    return np.where(truth, (positives + 1) / (positives + 2), 1 / (truth.size - positives + 2))
