"""What every weight keeps, whichever package it came from."""

import numpy as np
import pytest

from tagwright import registry
from tagwright.weights import LabelWeights

pytestmark = pytest.mark.parametrize("name", registry.names("weights"))
COUNTS = np.array([40, 1, 7, 0, 11, 59])  # a label that no text has, and one that all have


def made(name: str, counts: np.ndarray = COUNTS) -> LabelWeights:
    return registry.build("weights", name, {}, label_counts=counts, row_count=59)


def test_factors_are_finite_and_not_negative(name: str):
    found = made(name)
    assert any(values is not None for values in found)
    for values in found:
        if values is not None:
            assert values.shape == (6,)
            assert np.isfinite(values).all()
            assert (values >= 0).all()


def test_the_order_of_labels_changes_nothing(name: str):
    order = np.array([3, 0, 5, 1, 4, 2])
    for values, other in zip(made(name), made(name, COUNTS[order])):
        assert (values is None) == (other is None)
        if values is not None:
            np.testing.assert_allclose(other, values[order], rtol=1e-12)


def test_what_goes_by_the_gold_label_is_for_exclusive_labels(name: str):
    assert made(name).of_gold is None or registry.find("weights", name).factory.exclusive
