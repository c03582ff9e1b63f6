"""Networks from settings."""

import numpy as np
import pytest
import torch

from tagwright.labels.space import LabelSpace
from tagwright.models.build import build_network, learn, starting_bias
from tagwright.settings.schema import resolve
from tagwright.tokenizers.tokens import Tokens

SPACE = LabelSpace(names=("a", "b", "c"), counts=(1, 50, 100))
CNN = {"encoder": {"name": "cnn", "width": 4, "filters": 2}}


def built(seed=0, row_count=0, **sections):
    settings = resolve({**CNN, "fit": {"seed": seed}, **sections})
    return build_network(settings, {"main": (SPACE, row_count)}, sizes=(11,), learned={})


def same(first, second):
    pairs = zip(first.state_dict().values(), second.state_dict().values())
    return all(torch.equal(a, b) for a, b in pairs)


def test_weights_are_a_function_of_the_seed():
    assert same(built(seed=3), built(seed=3))
    assert not same(built(seed=3), built(seed=4))


def test_building_does_not_touch_the_global_generator():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    built()
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("loss", "link"), [("bce", "sigmoid"), ("zlpr", "sigmoid2"), ("cross_entropy", "softmax")]
)
def test_the_loss_says_the_link(loss, link):
    assert resolve({"objective": loss}).link == link


@pytest.mark.parametrize(
    ("link", "probability"),
    [
        ("sigmoid", lambda s: 1 / (1 + np.exp(-s))),
        ("sigmoid2", lambda s: 1 / (1 + np.exp(-2 * s))),
        ("softmax", lambda s: np.exp(s)),
    ],
)
def test_labels_start_at_their_share_in_train(link, probability):
    found = probability(starting_bias(SPACE, 200, link).double().numpy())
    np.testing.assert_allclose(found, [1 / 200, 50 / 200, 100 / 200], rtol=1e-5)


def test_a_label_of_every_row_starts_finite():
    space = LabelSpace(names=("a", "b"), counts=(200, 0))
    assert torch.isfinite(starting_bias(space, 200, "sigmoid")).all()


def test_without_rows_labels_start_at_zero():
    assert starting_bias(SPACE, 0, "sigmoid").tolist() == [0, 0, 0]


def test_every_head_starts_at_the_shares_of_its_own_labels():
    heads = {
        "topic": {"objective": "bce"},
        "mood": {"objective": "zlpr"},
        "kind": {"objective": "cross_entropy"},
    }
    settings = resolve(
        {**CNN, "heads": heads}, heads={"topic": "many", "mood": "many", "kind": "one"}
    )
    other = LabelSpace(names=("x", "y"), counts=(20, 60), exclusive=True)
    labels = {"topic": (SPACE, 200), "mood": (SPACE, 125), "kind": (other, 80)}
    network = build_network(settings, labels, sizes=(11,), learned={})
    bias = {
        name: head.linear.bias.detach().double().numpy() for name, head in network.heads.items()
    }
    share = {"topic": 1 / (1 + np.exp(-bias["topic"])), "mood": 1 / (1 + np.exp(-2 * bias["mood"]))}
    np.testing.assert_allclose(share["topic"], np.array(SPACE.counts) / 200, rtol=1e-5)
    np.testing.assert_allclose(share["mood"], np.array(SPACE.counts) / 125, rtol=1e-5)
    np.testing.assert_allclose(np.exp(bias["kind"]), np.array(other.counts) / 80, rtol=1e-5)


def test_soft_labels_of_one_head_that_ask_for_it_have_a_head_beside():
    soft = {"targets": "kwls", "soft": {"role": "auxiliary", "heads": 2}}
    settings = resolve(
        {**CNN, "heads": {"topic": {}, "mood": soft}}, heads={"topic": "many", "mood": "many"}
    )
    network = build_network(
        settings, {"topic": (SPACE, 0), "mood": (SPACE, 0)}, sizes=(11,), learned={}
    )
    assert [*network.heads] == ["topic", "mood", "mood soft"]
    assert not torch.equal(
        network.heads["mood"].linear.weight, network.heads["mood soft"].linear.weight
    )


def test_an_encoder_that_learns_nothing_beforehand_gives_no_arrays():
    tokens = Tokens(np.array([2, 3], np.int32), np.array([0, 2]))
    assert learn(resolve(CNN), tokens) == {}


def test_bow_learns_its_features_with_the_settings_given():
    tokens = Tokens(np.array([2, 3, 2, 3, 2, 4], np.int32), np.array([0, 2, 4, 6]))
    single = learn(resolve({"encoder": {"name": "bow", "longest": 1, "minimum": 1}}), tokens)
    pairs = learn(resolve({"encoder": {"name": "bow", "longest": 2, "minimum": 1}}), tokens)
    assert max(np.size(a) for a in single.values()) < max(np.size(a) for a in pairs.values())


def test_given_vectors_are_where_training_starts():
    vectors = np.arange(44, dtype=np.float32).reshape(11, 4)
    settings = resolve(CNN)
    network = build_network(
        settings, {"main": (SPACE, 0)}, sizes=(11,), learned={}, vectors=vectors
    )
    found = [t for t in network.encoder.state_dict().values() if t.shape == (11, 4)]
    assert any(np.array_equal(t[2:].numpy(), vectors[2:]) for t in found)
