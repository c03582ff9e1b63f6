"""Standard weights against the paper's figures for counts of 212, 19 and 10."""

import numpy as np

from tagwright.weights.standard import standard


def test_weights_are_the_published_ones():
    made = standard(np.array([212, 19, 10]), 241)
    np.testing.assert_allclose(
        made.positive, [0.12033195020746888, 0.921161825726141, 0.9585062240663901], rtol=1e-12
    )
    np.testing.assert_allclose(
        made.negative, [0.8796680497925311, 0.07883817427385892, 0.04149377593360996], rtol=1e-12
    )


def test_scale_moves_the_positive_weights_only():
    plain, scaled = (standard(np.array([1, 3]), 4, positive_scale=scale) for scale in (1, 8))
    np.testing.assert_allclose(scaled.positive, 8 * plain.positive)
    np.testing.assert_array_equal(scaled.negative, plain.negative)
