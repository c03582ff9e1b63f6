"""Intervals against scipy, plain loops and simulation; Holm against its definition."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tagwright.errors import DataError, SettingsError, ShapeError
from tagwright.metrics.statistics import crossed_interval, holm, paired_interval


def test_paired_interval_equals_scipys_paired_t_test():
    rng = np.random.default_rng(3)
    for count in (2, 3, 5, 11):
        a, b = rng.normal(0.3, 1, count), rng.normal(0, 1, count)
        expected = scipy_stats.ttest_rel(a, b)
        for level in (0.9, 0.95, 0.99):
            found = paired_interval(a, b, level=level)
            low, high = expected.confidence_interval(level)
            got = (found.mean, found.low, found.high, found.p_value, found.degrees)
            np.testing.assert_allclose(
                got, (np.mean(a - b), low, high, expected.pvalue, count - 1), rtol=1e-9
            )


def test_one_pair_says_nothing():
    found = paired_interval(np.array([0.9]), np.array([0.1]))
    assert (found.low, found.high, found.p_value, found.degrees) == (-np.inf, np.inf, 1.0, 0)
    assert not found.seeds_counted


@pytest.mark.parametrize(("shift", "p_value"), [(0.1, 0.0), (0.0, 1.0)])
def test_equal_differences_give_a_point(shift: float, p_value: float):
    # the mean of three 0.1 is not 0.1 in binary
    found = paired_interval(np.full(3, shift), np.zeros(3))
    assert found.low == found.high == found.mean == pytest.approx(shift)
    assert found.p_value == p_value


def loop_mean_squares(d: np.ndarray) -> tuple[float, float, float]:
    """The analysis of variance of a two-way layout with one value a cell, in plain loops."""
    seeds, examples = d.shape
    grand = sum(d[s, e] for s in range(seeds) for e in range(examples)) / (seeds * examples)
    row = [sum(d[s, e] for e in range(examples)) / examples for s in range(seeds)]
    column = [sum(d[s, e] for s in range(seeds)) / seeds for e in range(examples)]
    by_seed = examples * sum((r - grand) ** 2 for r in row) / (seeds - 1)
    by_example = seeds * sum((c - grand) ** 2 for c in column) / (examples - 1)
    rest = sum(
        (d[s, e] - row[s] - column[e] + grand) ** 2 for s in range(seeds) for e in range(examples)
    )
    return by_seed, by_example, rest / ((seeds - 1) * (examples - 1))


def loop_share_outside(
    half: float, squares: tuple[float, float, float], seeds: int, examples: int
) -> float:
    """Share of errors beyond half on either side, a plain sum over the densities of both χ² behind
    the mean squares.
    """
    seed, example, rest = squares
    log_place = np.linspace(-12, 8, 4001)
    place, width = np.exp(log_place), log_place[1] - log_place[0]
    by_seed, by_example = (
        scipy_stats.chi2.pdf(place, count - 1) * place * width for count in (seeds, examples)
    )
    total = 0.0
    for chi_square, weight in zip(place, by_example):
        if weight > 1e-12:
            text = max(example * (examples - 1) / chi_square - rest, 0)
            variance = (seed * (seeds - 1) / place + text) / (seeds * examples)
            total += weight * float(by_seed @ (2 * scipy_stats.norm.sf(half / variance**0.5)))
    return total


@pytest.mark.parametrize("example_spread", [0.4, 0.02])
@pytest.mark.parametrize("seed_spread", [0.3, 0.05])
def test_crossed_interval_equals_plain_loops(seed_spread: float, example_spread: float):
    rng = np.random.default_rng(4)
    d = (
        rng.normal(0, seed_spread, (5, 1))
        + rng.normal(0, example_spread, (1, 41))
        + rng.normal(0.1, 0.3, (5, 41))
    )
    b = rng.random((5, 41))
    squares = loop_mean_squares(d)
    for level in (0.9, 0.95, 0.99):
        found = crossed_interval(b + d, b, level=level)
        assert found.mean == pytest.approx(d.mean())
        assert found.high - found.mean == pytest.approx(found.mean - found.low)
        assert loop_share_outside(found.high - found.mean, squares, *d.shape) == pytest.approx(
            1 - level, rel=2e-4
        )
    assert found.p_value == pytest.approx(
        loop_share_outside(abs(d.mean()), squares, *d.shape), rel=2e-4
    )
    assert (found.degrees, found.seeds_counted) == (4, True)


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
def test_where_only_seeds_differ_it_is_their_t_interval(seeds: int):
    d = np.repeat(np.random.default_rng(10).normal(0.2, 1, (seeds, 1)), 300, axis=1)
    found, expected = (
        crossed_interval(d, np.zeros_like(d)),
        paired_interval(d[:, 0], np.zeros(seeds)),
    )
    got, want = (
        (found.low, found.high, found.p_value),
        (expected.low, expected.high, expected.p_value),
    )
    np.testing.assert_allclose(got, want, rtol=2e-4)


def test_where_only_examples_differ_it_is_their_t_interval():
    d = np.repeat(np.random.default_rng(11).normal(0.2, 1, (1, 37)), 4, axis=0)
    found, expected = crossed_interval(d, np.zeros_like(d)), paired_interval(d[0], np.zeros(37))
    got, want = (
        (found.low, found.high, found.p_value),
        (expected.low, expected.high, expected.p_value),
    )
    np.testing.assert_allclose(got, want, rtol=2e-4)


def test_runs_that_tie_are_not_taken_for_runs_without_spread():
    d = np.zeros((3, 500))
    # every run is right once more, each on another text: the seeds' mean square is 0
    d[[0, 1, 2], [7, 8, 9]] = 1
    assert loop_mean_squares(d)[0] == 0
    found = crossed_interval(d, np.zeros_like(d))
    assert found.low < 0 < found.high
    assert found.p_value > 0.1


def test_neither_seeds_nor_examples_matter():
    d = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert loop_mean_squares(d) == (0, 0, 4)
    found = crossed_interval(d, np.zeros((2, 2)))
    assert found.degrees == 1
    # standard error (4 / 4) ** 0.5
    assert found.high == pytest.approx(scipy_stats.t.ppf(0.975, 1), rel=2e-4)


def test_one_seed_counts_examples_only_and_says_so():
    rng = np.random.default_rng(5)
    a, b = rng.random((1, 37)), rng.random((1, 37))
    found, expected = crossed_interval(a, b), scipy_stats.ttest_rel(a[0], b[0])
    assert found.p_value == pytest.approx(expected.pvalue)
    assert not found.seeds_counted


def test_one_example_leaves_the_seeds():
    a, b = np.array([[0.1], [0.5], [0.9]]), np.zeros((3, 1))
    assert crossed_interval(a, b) == paired_interval(a[:, 0], b[:, 0])


def test_identical_systems_do_not_differ():
    a = np.random.default_rng(6).random((3, 7))
    found = crossed_interval(a, a.copy())
    assert (found.mean, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def coverage(seed_spread: float, example_spread: float, *, rounds: int) -> float:
    """How often the interval of 5 seeds on 500 examples holds the true difference, 0.1."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(rounds):
        shared = rng.normal(0, 1, (1, 500))  # hard and easy examples, the same for both systems
        effect = rng.normal(0, seed_spread, (5, 1)) + rng.normal(0, example_spread, (1, 500))
        b = shared + rng.normal(0, 0.3, (5, 500))
        a = shared + rng.normal(0, 0.3, (5, 500)) + effect + 0.1
        found = crossed_interval(a, b)
        held += found.low <= 0.1 <= found.high
    return held / rounds


def test_crossed_interval_holds_the_truth_about_95_times_in_100():
    assert 0.93 <= coverage(0.03, 0.4, rounds=1500) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed_spread", "example_spread"),
    [(0.0, 0.4), (0.02, 0.4), (0.05, 0.2), (0.3, 0.1), (0.02, 0.2)],
)
def test_crossed_interval_covers_whatever_varies(seed_spread: float, example_spread: float):
    assert 0.93 <= coverage(seed_spread, example_spread, rounds=6000) <= 0.97


@pytest.mark.slow
def test_crossed_interval_covers_right_or_wrong_scores():
    """Scores of 0 and 1, a logistic model of hard and easy examples and of lucky seeds."""
    rng = np.random.default_rng(8)
    held, rounds = 0, 4000

    def chances(skill: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-skill))

    # two systems that are equal in law: the true difference is 0
    for _ in range(rounds):
        hard = rng.normal(1, 2, (1, 500))
        runs = [hard + rng.normal(0, 0.5, (1, 500)) + rng.normal(0, 0.15, (5, 1)) for _ in range(2)]
        a, b = ((rng.random((5, 500)) < chances(run)).astype(float) for run in runs)
        found = crossed_interval(a, b)
        held += found.low <= 0 <= found.high
    assert 0.93 <= held / rounds <= 0.97


def test_holm_equals_its_definition():
    rng = np.random.default_rng(9)
    for count in (0, 1, 2, 7):
        values = np.round(rng.random(count) ** 3, 2)
        expected = np.empty(count)
        for i, p in enumerate(
            values
        ):  # the smallest level at which step-down testing rejects hypothesis i
            expected[i] = max(
                (min(1.0, (count - sum(values < q)) * q) for q in values[values <= p]), default=0
            )
        np.testing.assert_allclose(holm(values), expected, rtol=1e-12)


def test_mistakes_are_named():
    with pytest.raises(ShapeError, match=r"\(seeds,\), got \(2,\) and \(3,\)"):
        paired_interval(np.zeros(2), np.zeros(3))
    with pytest.raises(ShapeError, match=r"\(seeds, examples\), got \(4,\)"):
        crossed_interval(np.zeros(4), np.zeros(4))
    with pytest.raises(ShapeError, match=r"\(0,\)"):
        paired_interval(np.zeros(0), np.zeros(0))
    with pytest.raises(DataError, match="failed runs"):
        paired_interval(np.array([np.nan, 1]), np.zeros(2))
    with pytest.raises(SettingsError, match="got 95"):
        paired_interval(np.zeros(2), np.zeros(2), level=95)
    with pytest.raises(SettingsError, match="got 95"):
        crossed_interval(np.zeros((2, 2)), np.zeros((2, 2)), level=95)
    with pytest.raises(SettingsError, match=r"in \[0, 1\]"):
        holm(np.array([0.5, 1.5]))
