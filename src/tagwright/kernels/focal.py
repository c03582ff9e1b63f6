"""`focal` on a GPU."""

import triton
import triton.language as tl  # noqa: F401 (the interpreter wants it in sight)

from tagwright.kernels._entry import TermsKernel
from tagwright.kernels._math import exp, logistic


@triton.jit
def _terms(s, gamma, b, c):
    gold, other, chance, rest = logistic(s)
    of_gold, of_other = exp(-gamma * other), exp(-gamma * gold)  # (1 - p)^gamma, p^gamma
    slope = of_other * (gamma * rest * other + chance)
    return of_gold * gold, -of_gold * (gamma * chance * gold + rest), of_other * other, slope


@triton.jit
def _squared(s, gamma, b, c):
    """The same for gamma = 2, with a product for the power."""
    gold, other, chance, rest = logistic(s)
    of_gold, of_other = rest * rest, chance * chance
    slope = of_other * (2.0 * rest * other + chance)
    return of_gold * gold, -of_gold * (2.0 * chance * gold + rest), of_other * other, slope


PART = TermsKernel(lambda *options: _squared if options[0] == 2 else _terms, ("gamma",))
