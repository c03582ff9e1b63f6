import pytest
import torch
from torch import nn

from tagwright.models.encoders._attention import Attention
from tagwright.models.encoders._layer import FeedForward, Layer
from tagwright.models.encoders._padding import inside_of


def layer_of(norm: str, dropout: float = 0.0) -> Layer:
    torch.manual_seed(0)
    return Layer(Attention(6, 2), FeedForward(6, 7), hidden=6, dropout=dropout, norm=norm).double()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_layer_is_the_librarys_with_its_weights(norm: str) -> None:
    layer = layer_of(norm)
    theirs = nn.TransformerEncoderLayer(
        6, 2, 7, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    ).double()
    attention = theirs.self_attn
    attention.in_proj_weight.data, attention.in_proj_bias.data = (
        layer.attention.into.weight,
        layer.attention.into.bias,
    )
    attention.out_proj, theirs.linear1, theirs.linear2 = (
        layer.attention.out,
        layer.feed.into,
        layer.feed.out,
    )
    theirs.norm1, theirs.norm2 = layer.norms
    states, lengths = torch.randn(2, 5, 6, dtype=torch.float64), torch.tensor([5, 3])
    found = layer(states, inside_of(lengths, 5, dtype=torch.float64))
    expected = theirs(states, src_key_padding_mask=torch.arange(5) >= lengths[:, None])
    torch.testing.assert_close(found[0], expected[0], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found[1, :3], expected[1, :3], rtol=1e-10, atol=1e-12)


def test_dropout_is_for_training_only() -> None:
    layer, states = layer_of("post", dropout=0.5), torch.ones(1, 4, 6, dtype=torch.float64)
    inside = inside_of(torch.tensor([4]), 4, dtype=torch.float64)
    assert not torch.equal(layer(states, inside), layer(states, inside))
    layer.eval()
    assert torch.equal(layer(states, inside), layer(states, inside))
