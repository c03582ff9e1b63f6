"""The real MPNet, where it is on this machine."""

import json

import pytest

from tagwright import Tagger, registry
from tagwright.models.encoders.mpnet import PART
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.tokenizers.source import find_local


def test_it_is_pretrained_by_name():
    assert issubclass(PART, Pretrained)
    assert registry.find("encoders", "mpnet").settings == {
        **registry.find("encoders", "pretrained").settings,
        "path": "mpnet",
    }
    assert PART.defaults("many", None, {}, None)["schedule"] == {"name": "linear", "warmup": 0.1}


@pytest.mark.slow
def test_names_it_never_saw_are_tagged_by_their_meaning():
    folder = find_local("mpnet")
    if folder is None:
        pytest.skip("mpnet is not here; set TAGWRIGHT_ENCODERS")
    assert json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"] == "mpnet"
    things = ("tent", "canoe", "hiking boots", "knife", "frying pan", "oven glove")
    texts = [f"{thing}, {way}" for way in ("new", "for sale", "used") for thing in things]
    settings = {
        "encoder": {"name": "mpnet", "freeze": "all"},
        "fit": {"limit": 16, "learning_rate": 0.05, "batch": 6},
    }
    tagger = Tagger(settings=settings, epochs=8).fit(texts, (["outdoor"] * 3 + ["kitchen"] * 3) * 3)
    assert tagger.predict(["kayak", "saucepan"]).tolist() == ["outdoor", "kitchen"]
