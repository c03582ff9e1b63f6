"""EE weights against the paper's figures for counts of 212, 19 and 10."""

import numpy as np

from tagwright.weights.ee import ee

COUNTS = np.array([212, 19, 10])


def test_weights_are_the_published_ones():
    made = ee(COUNTS, 241)
    np.testing.assert_allclose(
        made.positive, [1.1367924528301887, 12.68421052631579, 24.1], rtol=1e-12
    )
    np.testing.assert_allclose(
        made.negative, [8.310344827586206, 1.0855855855855856, 1.0432900432900434], rtol=1e-12
    )


def test_scale_moves_the_positive_weights_only():
    plain, scaled = ee(COUNTS, 241), ee(COUNTS, 241, positive_scale=20)
    np.testing.assert_allclose(scaled.positive, 20 * plain.positive)
    np.testing.assert_array_equal(scaled.negative, plain.negative)


def test_label_that_none_or_all_have_stays_finite():
    made = ee(np.array([0, 5]), 5)
    assert np.isfinite([*made.positive, *made.negative]).all()
