"""Is one system better than another, or was it luck? Intervals for paired runs, and Holm's
correction.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtr, stdtrit

from tagwright.arrays import Floats
from tagwright.errors import DataError, SettingsError, ShapeError


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The mean difference a − b, its confidence interval, the two-sided p-value of "no difference",
    degrees of freedom.

    `degrees` are those of the spread over seeds; where only one seed was run, over examples.
    `seeds_counted` is False where only one seed was run: the interval then speaks of other
    examples, not other seeds, and is too narrow to say that a method is better.
    """

    mean: float
    low: float
    high: float
    p_value: float
    degrees: float
    seeds_counted: bool = True


def paired_interval(a: Floats, b: Floats, *, level: float = 0.95) -> Interval:
    """Paired t interval of mean(a − b): a (S,) and b (S,) are scores of two systems, seed by seed
    on the same test set.

    It speaks of other seeds on this very test set. One pair has no spread: the interval is
    unbounded, p = 1, degrees 0. All differences equal: a point, with p = 0 (p = 1 if they are 0).

    >>> found = paired_interval(np.array([3.0, 4.0, 5.0]), np.array([1.0, 3.0, 2.0]))
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), found.degrees
    (2.0, -0.484, 4.484, 2.0)
    """
    difference = _difference(a, b, ndim=1, level=level)
    count = len(difference)
    variance = _variance(difference) / count if count > 1 else float("inf")
    return _interval(
        float(difference.mean()), variance, count - 1, level=level, seeds_counted=count > 1
    )


def crossed_interval(a: Floats, b: Floats, *, level: float = 0.95) -> Interval:
    """Interval of mean(a − b) for other seeds and other examples: a (S, n) and b (S, n) are
    per-example scores.

    For metrics that are means over examples (accuracy, subset accuracy, example F1, LRAP): row s
    holds what the run of seed s scores on each of the same n examples. The difference of seed s on
    example e is taken as mean + seed effect + example effect + rest, all random (crossed effects).
    The variance of the grand mean is then estimated by (seed + max(example − rest, 0)) / (S · n) of
    the mean squares, as for readers and cases (Hillis 2007, doi.org/10.1002/sim.2532). Few seeds
    tell little of their mean square: the error is taken as normal, averaged over the mean squares
    that may be behind the seen ones, seen · degrees / χ²: Fisher's answer to Behrens, and Chiang's
    surrogate variables (2001, Technometrics). That is Student's t where seeds or examples are all
    that matters, and somewhat wide between. Satterthwaite's degrees of freedom are narrow there,
    the more so for the small p-values that Holm's correction asks for.

    One seed: the variance over examples alone, degrees n − 1, `seeds_counted` False. One example:
    as `paired_interval`.
    """
    difference = _difference(a, b, ndim=2, level=level)
    seeds, examples = difference.shape
    mean = float(difference.mean())
    if seeds == 1 or examples == 1:
        return replace(paired_interval(a.ravel(), b.ravel(), level=level), seeds_counted=seeds > 1)
    by_seed, by_example = difference.mean(axis=1), difference.mean(axis=0)
    left = difference - by_seed[:, None] - by_example + mean
    rest = float(np.sum(left**2)) / ((seeds - 1) * (examples - 1))
    # runs may tie, for right answers are counted: no sign of no spread, and a seeds' mean square is
    # at least the rest's
    seed, example = examples * _variance(by_seed) or rest, seeds * _variance(by_example)
    if seed == example == 0:
        return _interval(mean, 0.0, seeds - 1, level=level, seeds_counted=True)
    (of_seed, weight), (of_example, other) = _behind(seeds - 1), _behind(examples - 1)
    variances = seed * of_seed[:, None] + np.maximum(example * of_example - rest, 0.0)
    return _mixed_interval(
        mean, variances / difference.size, np.outer(weight, other), seeds - 1, level=level
    )


def holm(p_values: Floats) -> Floats:
    """p-values (m,) adjusted for being m at once (Holm 1979): those below 0.05 hold together with
    95% confidence.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise SettingsError(f"p_values must be a list of numbers in [0, 1], got {p_values!r}")
    order = np.argsort(values)
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    result = np.empty_like(values)
    result[order] = np.minimum(stepped, 1.0)
    return result


def _difference(a: Floats, b: Floats, *, ndim: int, level: float) -> Floats:
    if not 0 < level < 1:
        raise SettingsError(f"level must lie between 0 and 1, such as 0.95; got {level}")
    if np.ndim(a) != ndim or np.shape(a) != np.shape(b) or np.size(a) == 0:
        axes = "(seeds,)" if ndim == 1 else "(seeds, examples)"
        raise ShapeError(
            f"both systems need scores of one shape {axes}, got {np.shape(a)} and {np.shape(b)}"
        )
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    if not np.isfinite(difference).all():
        raise DataError(
            "scores to compare must be finite numbers; some are NaN or infinite: look for failed"
            " runs"
        )
    return difference


def _variance(values: Floats) -> float:
    # equal values must give 0 exactly: their mean may differ from them in the last bit
    return float(np.var(values, ddof=1)) if np.ptp(values) > 0 else 0.0


@cache
def _behind(degrees: int) -> tuple[Floats, Floats]:
    """Mean squares that may be behind a seen 1, degrees / χ², and their weights, both (24,): an
    integral's nodes.
    """
    nodes, weights = np.polynomial.legendre.leggauss(24)
    place = (nodes + 1) / 2
    # cubed: more nodes where χ² is small, for the tails come from there
    return degrees / (2 * gammaincinv(degrees / 2, place**3)), 1.5 * weights * place**2


def _mixed_interval(
    mean: float, variances: Floats, weights: Floats, degrees: int, *, level: float
) -> Interval:
    """The interval of a normal mean whose variance is one of `variances`, which have these
    weights.
    """
    errors, weights = np.sqrt(variances).ravel(), weights.ravel()
    half, step = float(ndtri((1 + level) / 2) / np.sqrt(weights @ errors**-2.0)), np.inf
    while step > 1e-9 * half:
        # Newton's steps: the share outside is convex in half and too great at first, so they come
        # near from below
        outside = 2 * weights @ ndtr(-half / errors)
        slope = (2 / np.pi) ** 0.5 * weights @ (np.exp(-((half / errors) ** 2) / 2) / errors)
        step = float((outside - (1 - level)) / slope)
        half += step
    p_value = min(float(2 * weights @ ndtr(-abs(mean) / errors)), 1.0)
    return Interval(
        mean=mean, low=mean - half, high=mean + half, p_value=p_value, degrees=float(degrees)
    )


def _interval(
    mean: float, variance: float, degrees: float, *, level: float, seeds_counted: bool
) -> Interval:
    """The t interval; unbounded for an infinite variance, a point for none."""
    error = variance**0.5
    if np.isinf(error):
        low, high, p_value = -np.inf, np.inf, 1.0
    elif error == 0:
        low, high, p_value = mean, mean, float(mean == 0)
    else:
        half = float(stdtrit(degrees, (1 + level) / 2)) * error
        low, high, p_value = mean - half, mean + half, 2 * float(stdtr(degrees, -abs(mean) / error))
    return Interval(
        mean=mean,
        low=low,
        high=high,
        p_value=p_value,
        degrees=float(degrees),
        seeds_counted=seeds_counted,
    )
