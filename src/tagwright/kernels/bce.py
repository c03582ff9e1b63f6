"""`bce` on a GPU."""

import triton
import triton.language as tl  # noqa: F401 (the interpreter wants it in sight)

from tagwright.kernels._entry import TermsKernel
from tagwright.kernels._math import logistic


@triton.jit
def _terms(s, a, b, c):
    gold, other, chance, rest = logistic(s)
    return gold, -rest, other, chance


PART = TermsKernel(lambda *options: _terms)
