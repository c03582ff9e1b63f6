"""`dice` on a GPU."""

import triton
import triton.language as tl  # noqa: F401 (the interpreter wants it in sight)

from tagwright.kernels._entry import TermsKernel
from tagwright.kernels._math import logistic, reciprocal


@triton.jit
def _terms(s, smooth, b, c):
    _, _, chance, rest = logistic(s)
    square = chance * chance
    gold, other = reciprocal(square + 1.0 + smooth), reciprocal(square + smooth)
    gold_value, other_value = rest * rest * gold, square * other
    return (
        gold_value,
        -2.0 * chance * gold_value * (1.0 + chance * rest * gold),
        other_value,
        2.0 * rest * other_value * smooth * other,
    )


PART = TermsKernel(lambda *options: _terms, ("smooth",))
