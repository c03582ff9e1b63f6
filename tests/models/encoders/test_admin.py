import math

import torch

from tagwright.models.encoders.admin import LENGTH, TEXTS, Admin
from tagwright.models.encoders.transformer import Transformer

SIZES = {"width": 6, "hidden": 8, "heads": 2, "layers": 5, "feed": 12}
IDS, LENGTHS = torch.tensor([[3, 4, 5, 6], [9, 1, 0, 0]]), torch.tensor([4, 2])


def model_of(**settings: float) -> Admin:
    torch.manual_seed(0)
    return Admin((23,), **SIZES, **settings).double()


def test_omega_of_one_is_the_transformer() -> None:
    model, plain = model_of(), Transformer((23,), **SIZES).double()
    weights = model.state_dict()
    for name in [name for name in weights if "omegas" in name]:
        weights[name].fill_(1)
    plain.load_state_dict({name: value for name, value in weights.items() if "omegas" not in name})
    expected = plain(IDS, LENGTHS).states
    torch.testing.assert_close(model(IDS, LENGTHS).states, expected, rtol=1e-10, atol=1e-12)


def test_omega_is_the_root_of_all_variance_before_it() -> None:
    torch.manual_seed(0)
    model = Admin((23,), **SIZES).requires_grad_(False)
    torch.manual_seed(0)
    Transformer((23,), **SIZES)  # draws as much as Admin does before its pass
    ids = torch.randint(1, 23, (TEXTS, LENGTH))
    states, inside = model.shell.embed(ids, torch.full((TEXTS,), LENGTH))
    before = 1.0
    for layer in model.shell.layers:
        for part, omega in enumerate(layer.omegas):
            assert omega.unique().numel() == 1
            assert math.isclose(omega[0], before, rel_tol=1e-4)
            added = layer.feed(states) if part else layer.attention(states, inside)
            before = math.sqrt(float((states * omega).var()) + float(added.var()))
            states = layer.norms[part](omega * states + added)
    assert before > 1.5  # the residual of a late layer starts larger than that of the first


def test_pass_leaves_no_gradient_and_the_model_in_training() -> None:
    model = model_of(dropout=0.3)
    assert model.training
    assert model.shell.dropout.training
    assert all(weight.grad is None and weight.requires_grad for weight in model.parameters())


def test_dropout_does_not_change_omega() -> None:
    calm, loud = model_of().state_dict(), model_of(dropout=0.5).state_dict()
    assert all(torch.equal(calm[name], loud[name]) for name in calm)
