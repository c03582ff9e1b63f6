"""Is one system better than another, or was it luck? Intervals for paired runs, and Holm's correction."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from tagwright.errors import DataError, SettingsError, ShapeError


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The mean difference a − b, its confidence interval, the two-sided p-value of "no difference", degrees of freedom.

    `seeds_counted` is False where only one seed was run: the interval then speaks of other examples, not other seeds,
    and is too narrow to say that a method is better.
    """

    mean: float
    low: float
    high: float
    p_value: float
    degrees: float
    seeds_counted: bool = True


def paired_interval(a: np.ndarray, b: np.ndarray, *, level: float = 0.95) -> Interval:
    """Paired t interval of mean(a − b): a (S,) and b (S,) are scores of two systems, seed by seed on the same test set.

    It speaks of other seeds on this very test set. One pair has no spread: the interval is unbounded, p = 1, degrees 0.
    All differences equal: a point, with p = 0 (p = 1 if they are 0).

    >>> found = paired_interval(np.array([3.0, 4.0, 5.0]), np.array([1.0, 3.0, 2.0]))
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), found.degrees
    (2.0, -0.484, 4.484, 2.0)
    """
    difference = _difference(a, b, ndim=1)
    count = len(difference)
    variance = _variance(difference) / count if count > 1 else float("inf")
    return _interval(float(difference.mean()), variance, count - 1, level=level, seeds_counted=count > 1)


def crossed_interval(a: np.ndarray, b: np.ndarray, *, level: float = 0.95) -> Interval:
    """Interval of mean(a − b) for other seeds and other examples: a (S, n) and b (S, n) are per-example scores.

    For metrics that are means over examples (accuracy, subset accuracy, example F1, LRAP): row s holds what the run of
    seed s scores on each of the same n examples. The difference of seed s on example e is taken as mean + seed effect +
    example effect + rest, all random (crossed effects). The variance of the grand mean is then estimated by
    (seed + example − rest) / (S · n) of the mean squares, with Satterthwaite's degrees of freedom.

    One seed: the variance over examples alone, degrees n − 1, `seeds_counted` False. One example: as `paired_interval`.
    """
    difference = _difference(a, b, ndim=2)
    seeds, examples = difference.shape
    mean = float(difference.mean())
    if seeds == 1 or examples == 1:
        return replace(paired_interval(a.ravel(), b.ravel(), level=level), seeds_counted=seeds > 1)
    by_seed, by_example = difference.mean(axis=1), difference.mean(axis=0)
    rest = difference - by_seed[:, None] - by_example + mean
    degrees = np.array([seeds - 1, examples - 1, (seeds - 1) * (examples - 1)])
    squares = np.array([examples * _variance(by_seed), seeds * _variance(by_example), np.sum(rest**2) / degrees[2]])
    # never below the rest alone, its value where neither seeds nor examples matter; chance can make it negative
    total = max(squares[0] + squares[1] - squares[2], squares[2])
    freedom = total**2 / np.sum(squares**2 / degrees) if total > 0 else float(degrees[0])
    return _interval(mean, float(total / difference.size), float(freedom), level=level, seeds_counted=True)


def holm(p_values: np.ndarray) -> np.ndarray:
    """p-values (m,) adjusted for being m at once (Holm 1979): those below 0.05 hold together with 95% confidence.

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


def _difference(a: np.ndarray, b: np.ndarray, *, ndim: int) -> np.ndarray:
    if np.ndim(a) != ndim or np.shape(a) != np.shape(b) or np.size(a) == 0:
        axes = "(seeds,)" if ndim == 1 else "(seeds, examples)"
        raise ShapeError(f"both systems need scores of one shape {axes}, got {np.shape(a)} and {np.shape(b)}")
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    if not np.isfinite(difference).all():
        raise DataError("scores to compare must be finite numbers; some are NaN or infinite: look for failed runs")
    return difference


def _variance(values: np.ndarray) -> float:
    # equal values must give 0 exactly: their mean may differ from them in the last bit
    return float(np.var(values, ddof=1)) if np.ptp(values) > 0 else 0.0


def _interval(mean: float, variance: float, degrees: float, *, level: float, seeds_counted: bool) -> Interval:
    """The t interval; unbounded for an infinite variance, a point for none."""
    if not 0 < level < 1:
        raise SettingsError(f"level must lie between 0 and 1, such as 0.95; got {level}")
    error = variance**0.5
    if np.isinf(error):
        low, high, p_value = -np.inf, np.inf, 1.0
    elif error == 0:
        low, high, p_value = mean, mean, float(mean == 0)
    else:
        half = float(stdtrit(degrees, (1 + level) / 2)) * error
        low, high, p_value = mean - half, mean + half, 2 * float(stdtr(degrees, -abs(mean) / error))
    return Interval(mean=mean, low=low, high=high, p_value=p_value, degrees=float(degrees), seeds_counted=seeds_counted)
