import pytest
import torch
from torch import nn

from tagwright.models.encoders.transformer import Transformer

LENGTHS = torch.tensor([9, 4, 1])


def copied(model: Transformer) -> nn.TransformerEncoder:
    """The library's encoder with this model's weights."""
    shell = model.shell
    first = shell.layers[0]
    layer = nn.TransformerEncoderLayer(
        12,
        3,
        first.feed.into.out_features,
        dropout=0.0,
        batch_first=True,
        norm_first=first.norm == "pre",
    )
    theirs = nn.TransformerEncoder(layer, len(shell.layers), enable_nested_tensor=False).double()
    for own, other in zip(shell.layers, theirs.layers):
        other.self_attn.in_proj_weight.data = own.attention.into.weight.data
        other.self_attn.in_proj_bias.data = own.attention.into.bias.data
        other.self_attn.out_proj.load_state_dict(own.attention.out.state_dict())
        other.linear1.load_state_dict(own.feed.into.state_dict())
        other.linear2.load_state_dict(own.feed.out.state_dict())
        for norm, wanted in zip((other.norm1, other.norm2), own.norms):
            norm.load_state_dict(wanted.state_dict())
    theirs.norm = shell.norm
    return theirs


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_states_and_gradients_are_those_of_the_librarys_stack(norm: str) -> None:
    torch.manual_seed(0)
    model = Transformer((23,), width=5, hidden=12, heads=3, layers=3, feed=17, norm=norm).double()
    for weight in model.parameters():
        weight.data += 0.1 * torch.randn_like(weight)  # biases and norms away from where they start
    theirs = copied(model)
    ids = torch.randint(1, 23, (3, 9))
    padding = torch.arange(9) >= LENGTHS[:, None]
    found = model(ids, LENGTHS).states
    start, _ = model.shell.embed(ids, LENGTHS)
    expected = theirs(start, src_key_padding_mask=padding).masked_fill(padding[..., None], 0)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    own = torch.autograd.grad(found.square().sum(), [model.shell.layers[0].attention.into.weight])
    other = torch.autograd.grad(
        expected.square().sum(), [theirs.layers[0].self_attn.in_proj_weight]
    )
    torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-10)
