"""`asymmetric` on a GPU."""

import triton
import triton.language as tl

from tagwright.kernels._entry import TermsKernel
from tagwright.kernels._math import exp, exp2, log, log2, logistic, reciprocal


@triton.jit
def _gold(gold, other, chance, rest, gamma):
    power = exp(-gamma * other)
    return power * gold, -power * (gamma * chance * gold + rest)


@triton.jit
def _plain(s, gamma_positive, gamma_negative, c):
    """Nothing clipped: log(1 - p) is in log space."""
    gold, other, chance, rest = logistic(s)
    gold_value, gold_slope = _gold(gold, other, chance, rest, gamma_positive)
    power = exp(-gamma_negative * gold)  # p^gamma
    return gold_value, gold_slope, power * other, power * (gamma_negative * rest * other + chance)


@triton.jit
def _clipped(s, gamma_positive, gamma_negative, clip):
    gold, other, chance, rest = logistic(s)
    gold_value, gold_slope = _gold(gold, other, chance, rest, gamma_positive)
    shifted = tl.maximum(chance - clip, 1e-30)
    kept = rest + clip  # 1 - shifted, where something is left
    log_kept = log(kept)
    power = tl.where(chance > clip, exp2(gamma_negative * log2(shifted)), 0.0)
    slope = (
        power * chance * rest * (reciprocal(kept) - gamma_negative * log_kept * reciprocal(shifted))
    )
    return gold_value, gold_slope, -power * log_kept, slope


PART = TermsKernel(
    lambda *options: _clipped if (options[2] or 0.0) > 0 else _plain,
    ("gamma_positive", "gamma_negative", "clip"),
)
