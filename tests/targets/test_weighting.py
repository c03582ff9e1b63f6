"""Saturation and inverse frequency."""

from math import inf, log

import numpy as np
import pytest

from tagwright.targets.weighting import Weighting, saturated

KWLS = Weighting(k1=2.0, b=0.75, k2=2.0, base=1.0)


def test_saturation_is_bounded_by_k():
    counts = np.array([0, 1, 2, 10_000])
    np.testing.assert_allclose(saturated(counts, 2.0), [0, 2 / 3, 1, 20_000 / 10_002], rtol=1e-15)


def test_no_bound_leaves_the_count():
    assert saturated(np.array([0, 1, 7]), inf).tolist() == [0, 1, 7]


def test_no_count_is_zero_even_with_no_norm():
    assert saturated(np.array([0, 1]), 2.0, np.array([0.0, 0.0])).tolist() == [0, 2]


def test_inverse_frequency_of_what_never_occurs_is_zero():
    np.testing.assert_allclose(KWLS.inverse(4, np.array([0, 1, 4])), [0, log(4) + 1, 1], rtol=1e-15)


def test_large_labels_are_held_back_as_far_as_b_says():
    words = np.array([30, 10])
    np.testing.assert_allclose(
        KWLS.norm(words, 20.0), [0.25 + 0.75 * 1.5, 0.25 + 0.75 * 0.5], rtol=1e-15
    )
    np.testing.assert_allclose(KWLS._replace(b=0.0).norm(words, 20.0), [1, 1], rtol=1e-15)


def test_labels_without_words_have_no_size():
    assert KWLS.norm(np.zeros(2, np.int64), np.float64(0)).tolist() == pytest.approx([0.25, 0.25])
