"""Words that are moved: what a network makes of them is what it makes of the words they became."""

import pytest
import torch

from tagwright import registry
from tagwright.data.shop import shop
from tagwright.errors import SettingsError
from tagwright.inference.model import inputs_of
from tagwright.models.build import build_network
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.regularizers._word_vectors import Words

from ...tiny_encoders import FAMILIES, LONGEST, write_encoder
from . import tiny

SMALL = {"width": 8, "hidden": 8, "layers": 1, "heads": 2, "feed": 8}
ENCODERS = {
    "cnn": {"width": 8, "filters": 5},
    "lstm": {"width": 8, "hidden": 5},
    "bat": SMALL,
    "informer": SMALL,
    "pretrained": {},
    "windows": {"long": "windows", "overlap": 2},
}
CASES = [
    (name, embed)
    for name in ENCODERS
    for embed in ("word", "hashes")
    if embed == "word" or name in ("cnn", "bat")
]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return str(write_encoder(tmp_path_factory.mktemp("encoder")))


def made(name, embed, source):
    """A network of float64, and the inputs of nine texts of several lengths."""
    pretrained = name in ("pretrained", "windows")
    choice = {
        "name": "pretrained" if pretrained else name,
        **ENCODERS[name],
        **({"path": source} if pretrained else {}),
    }
    limit = {"windows": 12, "pretrained": LONGEST}.get(name, 30)
    given = {"encoder": choice, "fit": {"limit": limit, "precision": "float32", "device": "cpu"}}
    settings = resolve(given if pretrained else {**given, "embed": embed})
    prepared = prepare(shop(pages=150), settings)
    facts = {"sizes": prepared.tokenizer.sizes, "learned": prepared.learned, "fresh": True}
    network = (
        build_network(
            settings, {"main": (prepared.space, prepared.heads["main"].examples)}, **facts
        )
        .double()
        .eval()
    )
    torch.nn.init.normal_(network.heads["main"].linear.weight)
    inputs = inputs_of(network, prepared.tokens["dev"], limit=limit)
    return network, inputs.batch(torch.arange(9).numpy())


def reads_what_they_became(network, inputs):
    ids = inputs[0]
    # other words at most places, with repetitions; special ones stay, for some families count
    # positions by padding
    others = torch.where(ids > 4, ids.flip(1).clamp(min=5), ids)
    words, target = Words(network, inputs), Words(network, (others, *inputs[1:]))
    with torch.no_grad():
        plain, expected = network(*inputs)["main"], network(others, *inputs[1:])["main"]
        with words.moved(target.vectors - words.vectors):
            found = network(*inputs)["main"]
        again = network(*inputs)["main"]
    assert not torch.allclose(expected, plain, rtol=1e-2)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)
    assert torch.equal(again, plain)


@pytest.mark.parametrize(("name", "embed"), CASES)
def test_a_network_reads_the_words_that_they_became(name, embed, source):
    reads_what_they_became(*made(name, embed, source))


@pytest.mark.parametrize("family", FAMILIES)
def test_so_does_every_family_of_pretrained_encoders(family, tmp_path):
    reads_what_they_became(*made("pretrained", "", str(write_encoder(tmp_path, family))))


@pytest.mark.parametrize("name", ["cnn", "windows"])
def test_directions_have_length_1_a_text_and_stay_inside_it(name, source):
    network, inputs = made(name, "word", source)
    words = Words(network, inputs)
    drawn = words.drawn(torch.Generator().manual_seed(2))
    outside = torch.arange(inputs[0].shape[1]) >= inputs[1][:, None]
    assert (drawn[outside] == 0).all()
    assert (drawn[~outside] != 0).all()
    counts = inputs[2] if len(inputs) > 2 else torch.ones(len(drawn), dtype=torch.int64)
    assert (counts.max() > 1) == (name == "windows")
    for text in drawn.split(counts.tolist()):
        assert text.square().sum().item() == pytest.approx(1, rel=1e-10)
    lengths = words.lengths(words.vectors)
    for text, found in zip(
        words.vectors.split(counts.tolist()), lengths.flatten().split(counts.tolist())
    ):
        assert found.tolist() == pytest.approx([text.norm().item()] * len(found), rel=1e-10)


def test_a_text_without_words_has_no_direction_and_one_without_gradient_gets_none():
    network = tiny.network_of({"main": (5,)})
    words = Words(network, (tiny.IDS, tiny.LENGTHS))
    drawn = words.drawn(torch.Generator().manual_seed(2))
    assert drawn[3].abs().sum() == 0
    assert words.unit(torch.zeros_like(drawn)).abs().sum() == 0
    tiny_one = words.unit(drawn * 1e-30)
    assert tiny_one.isfinite().all()
    assert tiny_one.abs().max() < 1


def test_the_draw_is_the_generators():
    words = Words(tiny.network_of({"main": (5,)}), (tiny.IDS, tiny.LENGTHS))
    first, second, third = (words.drawn(torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, third)


def test_a_failure_inside_moves_nothing_behind():
    network = tiny.network_of({"main": (5,)})
    words = Words(network, (tiny.IDS, tiny.LENGTHS))
    plain = network(tiny.IDS, tiny.LENGTHS)["main"]
    with pytest.raises(ValueError, match="inside"), words.moved(torch.ones_like(words.vectors)):
        raise ValueError("inside")
    assert torch.equal(network(tiny.IDS, tiny.LENGTHS)["main"], plain)


def test_an_encoder_without_word_vectors_is_refused():
    network = tiny.network_of({"main": (5,)})
    network.encoder = registry.find("encoders", "bow").factory.__new__(
        registry.find("encoders", "bow").factory
    )
    torch.nn.Module.__init__(network.encoder)
    with pytest.raises(SettingsError, match="BagOfWords has no word vectors; take cnn"):
        Words(network, (tiny.IDS, tiny.LENGTHS))
