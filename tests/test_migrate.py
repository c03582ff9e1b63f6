"""Model folders of older formats load, answer as they did, and are written in today's format."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tagwright import bundle, load

OLD = Path(__file__).parent / "folders" / "format-1"
EXPECTED = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["labels", "both"])
def test_a_folder_of_format_1_answers_as_it_did(name):
    scores = bundle.load(OLD / name).scores(EXPECTED[name]["texts"])
    np.testing.assert_allclose(scores.probabilities, EXPECTED[name]["probabilities"], atol=2e-6)
    assert scores.chosen.tolist() == EXPECTED[name]["chosen"]


def test_a_tagger_of_format_1_answers_as_it_did():
    assert load(OLD / "tokens").predict(EXPECTED["tokens"]["tokens"]) == EXPECTED["tokens"]["tags"]


@pytest.mark.parametrize("name", ["labels", "both", "tokens"])
def test_a_folder_of_format_1_is_written_in_the_new_format(name, tmp_path):
    model = bundle.load(OLD / name)
    bundle.save(model, tmp_path / "new", card="")
    again = bundle.load(tmp_path / "new")
    assert json.loads((tmp_path / "new" / "manifest.json").read_text())["format"] == bundle.FORMAT
    assert (again.inference, again.record, list(again.heads)) == (model.inference, model.record, list(model.heads))
    for old, new in zip(model.heads.values(), again.heads.values()):
        assert (old.part, old.extra_logits, old.zero, old.rule) == (new.part, new.extra_logits, new.zero, new.rule)


def test_both_heads_of_format_1_are_there_with_the_labels_of_texts_first():
    model = bundle.load(OLD / "both")
    assert list(model.heads) == ["main", "tags"]
    assert (model.tags_both, model.of_tags().tags_tokens) == (True, True)


def test_a_settings_file_of_format_1_trains_again(tmp_path):
    tagger = load(shutil.copytree(OLD / "labels", tmp_path / "m"))
    texts = EXPECTED["labels"]["texts"] * 8
    again = tagger.set_params(objective="focal").fit(texts, [["a"], ["b"], ["a", "b"], [], ["b"]] * 8)
    assert again.model_.record.resolved["loss"]["name"] == "focal"
