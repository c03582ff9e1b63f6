"""The inverse weights against their definition, written as loops."""

import numpy as np
import pytest

from tagwright.weights.inverse import inverse


def reference(counts: list[int], power: float) -> list[float]:
    """count^-power, scaled so that the mean over every assignment of train is 1."""
    assignments = [label for label, count in enumerate(counts) for _ in range(count)]
    raw = [1 / count**power for count in counts]
    mean = sum(raw[label] for label in assignments) / len(assignments)
    return [weight / mean for weight in raw]


@pytest.mark.parametrize("power", [1.0, 0.5, 2.0])
@pytest.mark.parametrize("counts", [[1, 3], [7, 7, 7], [1, 10, 997], [212, 19, 10, 1, 5]])
def test_weights_are_those_of_the_loops(counts: list[int], power: float):
    np.testing.assert_allclose(
        inverse(np.array(counts), power=power).positive, reference(counts, power), rtol=1e-10
    )


def test_power_of_zero_weighs_all_alike():
    np.testing.assert_allclose(
        inverse(np.array([1, 50, 3]), power=0.0).positive, [1, 1, 1], rtol=1e-12
    )


def test_rarer_label_weighs_more():
    weight = inverse(np.array([5, 500, 50])).positive
    assert weight[0] > weight[2] > weight[1]
    np.testing.assert_allclose(weight[0] / weight[1], 100, rtol=1e-12)


def test_label_without_an_example_weighs_as_if_it_had_one():
    weight = inverse(np.array([0, 1, 4])).positive
    assert np.isfinite(weight).all()
    assert weight[0] == weight[1]


def test_label_without_an_example_leaves_the_scale_of_the_others():
    """The mean is over the assignments of train; a label that has none adds none."""
    counts = np.array([0, 0, 0, 2, 8])
    weight = inverse(counts).positive
    assert (weight * counts).sum() / counts.sum() == pytest.approx(1, rel=1e-12)


def test_tuple_of_counts_is_taken():
    np.testing.assert_array_equal(inverse((1, 3)).positive, inverse(np.array([1, 3])).positive)


def test_other_labels_keep_their_weight():
    assert inverse(np.array([1, 3])).negative is None
