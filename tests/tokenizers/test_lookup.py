import numpy as np
import pytest
import torch

from tagwright.errors import SettingsError, ShapeError
from tagwright.models.embeddings import Lookup


def test_channels_are_summed() -> None:
    lookup = Lookup((7, 5, 3), width=4)
    ids = torch.tensor([[[6, 4, 2], [1, 0, 1]]])
    tables = [table.detach() for table in lookup.tables]
    expected = torch.stack(
        [tables[0][6] + tables[1][4] + tables[2][2], tables[0][1] + tables[2][1]]
    )
    torch.testing.assert_close(lookup(ids)[0], expected)


def test_padding_is_zero_and_gets_no_gradient() -> None:
    lookup = Lookup((5,), width=3)
    vectors = lookup(torch.tensor([[0, 2, 0]]))
    assert vectors[0, 0].tolist() == vectors[0, 2].tolist() == [0, 0, 0]
    vectors.sum().backward()
    gradient = lookup.tables[0].grad
    assert gradient.sum(1).tolist() == [0, 0, 3, 0, 0]


def test_given_vectors_are_kept_and_frozen() -> None:
    vectors = np.arange(12, dtype=np.float64).reshape(4, 3)
    lookup = Lookup((4,), width=3, vectors=vectors, freeze=True)
    assert lookup(torch.tensor([[3, 0]])).tolist() == [[[9, 10, 11], [0, 0, 0]]]
    assert not lookup.tables[0].requires_grad


@pytest.mark.parametrize("sizes", [(4, 4), (5,)])
def test_vectors_of_another_shape_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(SettingsError, match="vectors must go with one channel"):
        Lookup(sizes, width=3, vectors=np.zeros((4, 3)))


def test_a_frozen_table_is_built_without_its_vectors_as_loading_a_model_does() -> None:
    lookup = Lookup((4,), width=3, freeze=True)
    assert not lookup.tables[0].requires_grad


def test_ids_without_their_channels_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"\(B, T, 2\), got \(1, 3\)"):
        Lookup((4, 4))(torch.zeros(1, 3, dtype=torch.long))
