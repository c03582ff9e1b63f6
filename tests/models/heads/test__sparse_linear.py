"""SparseLinear against the dense product, forward and backward."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from tagwright.batches.sparse import SparseRows
from tagwright.errors import ShapeError
from tagwright.models.heads._sparse_linear import SparseLinear


def matrix(rows: int = 17, width: int = 41, *, seed: int = 0) -> csr_array:
    dense = (
        random_array((rows, width), density=0.2, rng=np.random.default_rng(seed))
        .toarray()
        .astype(np.float32)
    )
    dense[3] = 0  # a text without features
    return csr_array(dense)


def layer(width: int = 41, labels: int = 7) -> SparseLinear:
    linear = SparseLinear(width, labels)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        linear.weight.copy_(torch.randn(width, labels, generator=generator))
        linear.bias.copy_(torch.randn(labels, generator=generator))
    return linear


def test_rows_of_an_index_are_those_rows_in_that_order() -> None:
    whole, index = matrix(), np.array([5, 3, 0, 5, 16])
    rows = SparseRows.of(whole, index)
    taken = csr_array((rows.values.numpy(), rows.ids.numpy(), rows.offsets.numpy()), shape=(5, 41))
    np.testing.assert_array_equal(taken.toarray(), whole.toarray()[index])


def test_forward_equals_the_dense_product() -> None:
    linear, whole = layer(), matrix()
    expected = torch.from_numpy(whole.toarray()) @ linear.weight + linear.bias
    torch.testing.assert_close(linear(SparseRows.of(whole, np.arange(17))), expected)


def test_gradients_equal_those_of_the_dense_product() -> None:
    linear, whole = layer(), matrix()
    linear(SparseRows.of(whole, np.arange(17))).square().sum().backward()
    weight, bias = (p.detach().clone().requires_grad_() for p in (linear.weight, linear.bias))
    (torch.from_numpy(whole.toarray()) @ weight + bias).square().sum().backward()
    torch.testing.assert_close(linear.weight.grad.to_dense(), weight.grad)
    torch.testing.assert_close(linear.bias.grad, bias.grad)


def test_the_gradient_holds_only_the_rows_in_use_once_and_ascending() -> None:
    linear, whole = layer(), matrix()
    linear(SparseRows.of(whole, np.array([2, 9]))).sum().backward()
    assert (
        linear.weight.grad._indices()[0].tolist()
        == np.flatnonzero(whole.toarray()[[2, 9]].any(axis=0)).tolist()
    )


def test_gradients_equal_central_differences_in_float64() -> None:
    linear, rows = layer(11, 3).double(), SparseRows.of(matrix(5, 11), np.arange(5))
    rows = rows._replace(values=rows.values.double())
    linear(rows).sin().sum().backward()
    with torch.no_grad():  # gradcheck itself takes no sparse gradient of a dense weight
        for row, label in np.ndindex(11, 3):
            sums = []
            for step in (1e-6, -2e-6):
                linear.weight[row, label] += step
                sums.append(linear(rows).sin().sum())
            linear.weight[row, label] += 1e-6
            numeric = (sums[0] - sums[1]) / 2e-6
            torch.testing.assert_close(
                linear.weight.grad.to_dense()[row, label], numeric, rtol=1e-6, atol=1e-8
            )


def test_two_backwards_add_up() -> None:
    linear, rows = layer(), SparseRows.of(matrix(), np.arange(17))
    linear(rows).sum().backward()
    once = linear.weight.grad.to_dense().clone()
    linear(SparseRows.of(matrix(), np.arange(8))).sum().backward()
    part = torch.zeros(41, 7) + torch.from_numpy(matrix().toarray()[:8].sum(axis=0))[:, None]
    torch.testing.assert_close(linear.weight.grad.to_dense(), once + part)


def test_a_batch_without_features_gives_the_bias_and_an_empty_gradient() -> None:
    linear = layer()
    logits = linear(SparseRows.of(matrix(), np.array([3])))
    torch.testing.assert_close(logits[0], linear.bias)
    logits.sum().backward()
    assert linear.weight.grad._indices().shape == (1, 0)


def test_a_wrong_dtype_is_refused() -> None:
    rows = SparseRows.of(matrix(), np.arange(2))
    with pytest.raises(ShapeError, match=r"int64 ids and torch\.float32 values"):
        layer()(rows._replace(values=rows.values.double()))
