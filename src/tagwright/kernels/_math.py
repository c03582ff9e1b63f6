"""Exponential, logarithm and reciprocal as the hardware has them, and what the losses make of them.

Triton's own are right to the last digit and cost up to twenty-five instructions; these cost one
each, err by 2^-22, and take numbers below 1e-38 for 0. The interpreter knows no instructions: there
they are Triton's.
"""

import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
LN2: tl.constexpr = tl.constexpr(0.6931471805599453)

if triton.knobs.runtime.interpret:

    @triton.jit
    def exp2(x):
        """2^x."""
        return tl.exp2(x)

    @triton.jit
    def log2(x):
        """The logarithm to base 2."""
        return tl.log2(x)

    @triton.jit
    def reciprocal(x):
        """1 / x."""
        return 1.0 / x

    @triton.jit
    def widened(x):
        """As float32."""
        return x.to(tl.float32)

else:

    @triton.jit
    def exp2(x):
        """2^x."""
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1
        )

    @triton.jit
    def log2(x):
        """The logarithm to base 2."""
        return tl.inline_asm_elementwise(
            "lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1
        )

    @triton.jit
    def reciprocal(x):
        """1 / x."""
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1
        )

    @triton.jit
    def widened(x):
        """As float32. Of two bfloat16 in one register, the upper takes Triton two instructions."""
        if x.dtype == tl.bfloat16:
            halves: tl.constexpr = "shl.b32 $0, $2, 16; and.b32 $1, $2, 0xffff0000;"
            return tl.inline_asm_elementwise(
                halves, "=r,=r,r", [x], tl.float32, is_pure=True, pack=2
            )
        else:
            return x.to(tl.float32)


@triton.jit
def exp(x):
    """e^x."""
    return exp2(x * LOG2E)


@triton.jit
def log(x):
    """The natural logarithm."""
    return log2(x) * LN2


@triton.jit
def log1p(u):
    """log(1 + u) of u in [0, 1], to 3e-7 of its value: a polynomial of log(1 + u) / u."""
    series = 0.17745238542556763 + u * (
        -0.10768166184425354 + u * (0.04408959671854973 - u * 0.008539198897778988)
    )
    series = -0.4999740421772003 + u * (
        0.33275479078292847 + u * (-0.24495461583137512 + u * series)
    )
    return u * (0.9999998211860657 + u * series)


@triton.jit
def log2_less(p):
    """The logarithm to base 2 of 1 - p, for p in [0, 1], to 3e-6 of its value.

    Near 1 `log2` errs by up to 2^-22, always to the same side, and thousands of labels add that up:
    there a series.
    """
    series = 0.2404491734814939 * p + 0.28853900817779268
    series = 0.48089834696298783 + p * (0.36067376022224085 + p * series)
    return tl.where(
        p < 0.0625, -p * (LOG2E + p * (0.72134752044448170 + p * series)), log2(1.0 - p)
    )


@triton.jit
def softplus(s):
    """log(1 + e^s)."""
    return tl.maximum(s, 0.0) + log1p(exp(-tl.abs(s)))


@triton.jit
def sigmoid(s):
    """1 / (1 + e^-s)."""
    return reciprocal(1.0 + exp(-s))


@triton.jit
def logistic(s):
    """softplus(-s), softplus(s), sigmoid(s), sigmoid(-s), with one exponential and one
    reciprocal.
    """
    small = exp(-tl.abs(s))
    large = reciprocal(1.0 + small)
    rest, small, up = log1p(small), small * large, s >= 0
    return (
        tl.maximum(-s, 0.0) + rest,
        tl.maximum(s, 0.0) + rest,
        tl.where(up, large, small),
        tl.where(up, small, large),
    )
