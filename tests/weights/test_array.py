"""The array of BAT: its two values a column are those of the matrix the paper prints."""

import numpy as np
import torch

from tagwright.objective import weight_cells
from tagwright.weights.array import array

MATRIX = [
    [1.1367924528301887, 6.342105263157895, 12.05],
    [0.5683962264150944, 12.68421052631579, 12.05],
]
MATRIX += [[0.5683962264150944, 6.342105263157895, 24.1]]


def test_cells_are_the_columns_of_the_matrix():
    made = array(np.array([212, 19, 10]), 241)
    target = torch.eye(3, dtype=torch.float64)
    cells = weight_cells(target, *(None if w is None else torch.as_tensor(w) for w in made))
    # (text, label)
    found = torch.where(target > 0, cells["positive_weight"], cells["negative_weight"])
    np.testing.assert_allclose(found.T, MATRIX, rtol=1e-12)


def test_scale_moves_the_positive_weights_only():
    plain, scaled = (array(np.array([1, 3]), 4, positive_scale=scale) for scale in (1, 8))
    np.testing.assert_allclose(scaled.positive, 8 * plain.positive)
    np.testing.assert_array_equal(scaled.of_gold, plain.of_gold)
