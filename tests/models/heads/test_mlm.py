"""The head of masked-language modelling: where it starts, and what it says of pieces."""

import math

import pytest
import torch
from torch import nn

from tagwright.models.encoders import Encoder
from tagwright.models.heads import Head, mlm
from tagwright.models.heads.mlm import MaskedPieces
from tagwright.models.hidden import Hidden
from tagwright.models.network import Network

COUNT, WIDTH, OWN = 41, 12, 7


def head_of(width=WIDTH, own=OWN, **options):
    """A head with weights that are nothing special, and word vectors."""
    torch.manual_seed(3)
    vectors = torch.randn(COUNT, own).double().requires_grad_()
    head = MaskedPieces(width, vectors.detach(), torch.arange(5, COUNT), mask=3, **options).double()
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    return head, vectors


def by_hand(head, vectors, states, gold):
    """Minus the log chance of each gold piece, one state after the other."""
    values = []
    for state, piece in zip(states, gold.tolist()):
        inner = head.dense.weight @ state + head.dense.bias
        inner = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
        away = inner - inner.sum() / len(inner)
        inner = (
            away / torch.sqrt((away * away).sum() / len(inner) + head.norm.eps) * head.norm.weight
            + head.norm.bias
        )
        scores = torch.stack(
            [(vector * inner).sum() + bias for vector, bias in zip(vectors, head.bias)]
        )
        values.append(scores.exp().sum().log() - scores[piece])
    return torch.stack(values)


@pytest.mark.parametrize("cells", [2**25, 5 * COUNT, 1])
def test_losses_and_gradients_are_those_by_hand_however_few_rows_are_made_at_once(
    cells, monkeypatch
):
    monkeypatch.setattr(mlm, "CELLS", cells)
    head, vectors = head_of()
    states, gold = torch.randn(13, WIDTH).double().requires_grad_(), torch.randint(COUNT, (13,))
    upstream = torch.rand(13).double()
    leaves = [states, vectors, *head.parameters()]
    found, expected = head.losses(states, vectors, gold), by_hand(head, vectors, states, gold)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    for one, other in zip(
        *(torch.autograd.grad(values @ upstream, leaves) for values in (found, expected))
    ):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_losses_are_made_of_the_logits():
    head, vectors = head_of()
    states, gold = torch.randn(5, WIDTH).double(), torch.randint(COUNT, (5,))
    expected = -head(states, vectors).log_softmax(1)[range(5), gold]
    torch.testing.assert_close(head.losses(states, vectors, gold), expected, rtol=1e-10, atol=1e-12)


def test_it_starts_as_the_identity_up_to_the_norm():
    states, vectors = torch.randn(50, WIDTH) * 0.25, torch.randn(COUNT, WIDTH)
    head = MaskedPieces(WIDTH, vectors, torch.arange(COUNT), mask=3)
    expected = nn.functional.layer_norm(states, (WIDTH,)) @ vectors.T
    torch.testing.assert_close(head(states, vectors), expected, rtol=0.05, atol=0.05)


def test_it_starts_by_undoing_a_projection():
    """What the encoder would make of a piece's own vector, widened, is that piece again."""
    vectors, wider = torch.randn(COUNT, OWN) * 0.5, torch.randn(WIDTH, OWN)
    vectors = nn.functional.layer_norm(vectors, (OWN,)) * 0.5
    head = MaskedPieces(WIDTH, vectors, torch.arange(COUNT), mask=3, back=torch.linalg.pinv(wider))
    assert head(vectors @ wider.T, vectors).argmax(1).tolist() == list(range(COUNT))


def test_only_what_may_be_hidden_is_maskable():
    head, _ = head_of()
    assert head.maskable.nonzero().flatten().tolist() == list(range(5, COUNT))
    assert set(head.state_dict()) == {
        "dense.weight",
        "dense.bias",
        "norm.weight",
        "norm.bias",
        "bias",
    }


def test_a_network_leaves_it_out_of_its_logits():
    class Reading(Encoder):
        def forward(self, states):
            return Hidden(states, states[:, 0])

    class Main(Head):
        def forward(self, hidden):
            return hidden.pooled

    network = Network(Reading(), {"main": Main(), "mlm": head_of()[0]})
    assert set(network(torch.zeros(2, 3, WIDTH))) == {"main"}
