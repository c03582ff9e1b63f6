import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tagwright.models.encoders._bat_convolutions import BATConvolutions

TOKENS = torch.arange(5) < torch.tensor([5, 3, 1, 0])[:, None]


def products_of() -> Tensor:
    return torch.randn(
        4, 5, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    ).requires_grad_()


@pytest.mark.parametrize("tokens", [None, TOKENS])
def test_taps_are_added_token_by_token(tokens: Tensor | None) -> None:
    products = products_of()
    found = BATConvolutions.apply(products, tokens)
    there = torch.ones(4, 5, dtype=torch.bool) if tokens is None else tokens
    for text in range(4):
        for place in range(int(there[text].sum())):
            own, here, _, _ = products[text, place].split(3)
            total = here
            if place > 0:
                total = total + products[text, place - 1, 6:9]
            if place < 4 and there[text, place + 1]:
                total = total + products[text, place + 1, 9:]
            torch.testing.assert_close(
                found[text, place], F.relu(own) + F.relu(total), rtol=1e-10, atol=1e-12
            )


@pytest.mark.parametrize("tokens", [None, TOKENS])
def test_gradient_passes_gradcheck(tokens: Tensor | None) -> None:
    assert torch.autograd.gradcheck(
        lambda products: BATConvolutions.apply(products, tokens), products_of()
    )


def test_one_token_has_no_neighbors() -> None:
    products = torch.tensor([[[-1.0, 2.0, 5.0, 7.0]]])
    assert BATConvolutions.apply(products, None).tolist() == [[[2.0]]]
