import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tagwright.errors import SettingsError
from tagwright.models.encoders._attention import by_head, full, joined
from tagwright.models.encoders._padding import inside_of
from tagwright.models.encoders.muse import MUSE, MUSELayer, band

LENGTHS = torch.tensor([9, 4, 1])


def layer_of(norm: str, kernels: tuple[int, ...]) -> MUSELayer:
    torch.manual_seed(0)
    layer = MUSELayer(6, 2, 5, kernels, dropout=0.0, norm=norm).double()
    for weight in layer.parameters():
        weight.data += 0.3 * torch.randn_like(weight)
    return layer


def convolved(layer: MUSELayer, states: Tensor, head: int, place: int) -> Tensor:
    """One token's answer of one head: the mixture over sizes of softmax-weighted sums over the
    window.
    """
    values = states @ layer.into.weight[12:18].T + layer.into.bias[12:18]
    scores = states[place] @ layer.into.weight[23:].T + layer.into.bias[23:]
    scores = scores[head * sum(layer.kernels) : (head + 1) * sum(layer.kernels)]
    shares, total, start = (
        layer.mixture.exp() / layer.mixture.exp().sum(),
        torch.zeros(3, dtype=torch.float64),
        0,
    )
    for share, size in zip(shares, layer.kernels):
        weights = scores[start : start + size].exp() / scores[start : start + size].exp().sum()
        for tap in range(size):
            source = place + tap - size // 2
            if 0 <= source < len(states):
                total = total + share * weights[tap] * values[source, 3 * head : 3 * head + 3]
        start += size
    return total


@pytest.mark.parametrize("kernels", [(3, 7), (1,), (5, 3, 5)])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_layer_matches_plain_loops(norm: str, kernels: tuple[int, ...]) -> None:
    layer, states = layer_of(norm, kernels), torch.randn(3, 9, 6, dtype=torch.float64)
    found = layer(states, inside_of(LENGTHS, 9, dtype=torch.float64))
    for text, length in enumerate(LENGTHS.tolist()):
        own = states[text, :length]
        read = layer.norm(own) if norm == "pre" else own
        asked = (read @ layer.into.weight[:18].T + layer.into.bias[:18]).chunk(3, -1)
        inside = inside_of(torch.tensor([length]), length, dtype=torch.float64)
        far = joined(full(*(by_head(part[None], 2) for part in asked), inside))[0]
        inner = F.relu(read @ layer.into.weight[18:23].T + layer.into.bias[18:23])
        for place in range(length):
            near = torch.cat([convolved(layer, read, head, place) for head in range(2)])
            added = (
                layer.out.bias
                + layer.out.weight[:, :6] @ far[place]
                + layer.out.weight[:, 6:12] @ near
            )
            total = own[place] + added + layer.out.weight[:, 12:] @ inner[place]
            expected = total if norm == "pre" else layer.norm(total)
            torch.testing.assert_close(found[text, place], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("count", "size"), [(1, 1), (1, 5), (4, 7), (9, 3), (5, 1)])
def test_band_puts_each_kernel_on_its_row(count: int, size: int) -> None:
    kernels = torch.randn(2, count, size)
    found = band(kernels)
    assert found.shape == (2, count, count)
    for row in range(count):
        for column in range(count):
            tap = column - row + size // 2
            expected = kernels[:, row, tap] if 0 <= tap < size else torch.zeros(2)
            assert torch.equal(found[:, row, column], expected)


@pytest.mark.parametrize("kernels", [(), (4,), (3, -1)])
def test_kernels_that_have_no_middle_are_an_error(kernels: tuple[int, ...]) -> None:
    with pytest.raises(SettingsError, match="kernels must be one or more odd whole numbers"):
        MUSE((5,), kernels=kernels)
