"""Model folders of older formats load, answer as they did, and are written in today's format."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tagwright import load
from tagwright.errors import ModelError, SettingsError
from tagwright.inference import model_folder
from tagwright.inference.spans import find_spans
from tagwright.settings.merge import read_settings
from tagwright.settings.schema import resolve
from tagwright.tokenizers.cut import cut

OLD = Path(__file__).parents[1] / "folders" / "format-1"
EXPECTED = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))
TWO = Path(__file__).parents[1] / "folders" / "format-2"  # before heads had sections of their own


@pytest.mark.parametrize("name", ["labels", "both"])
def test_a_folder_of_format_1_answers_as_it_did(name):
    scores = model_folder.load(OLD / name).scores(EXPECTED[name]["texts"])
    np.testing.assert_allclose(scores.probabilities, EXPECTED[name]["probabilities"], atol=2e-6)
    assert scores.chosen.tolist() == EXPECTED[name]["chosen"]


def test_a_tagger_of_format_1_answers_as_it_did():
    assert load(OLD / "tokens").predict(EXPECTED["tokens"]["tokens"]) == EXPECTED["tokens"]["tags"]


@pytest.mark.parametrize("name", ["labels", "both", "tokens"])
def test_a_folder_of_format_1_is_written_in_the_new_format(name, tmp_path):
    model = model_folder.load(OLD / name)
    model_folder.save(model, tmp_path / "new", card="")
    again = model_folder.load(tmp_path / "new")
    assert (
        json.loads((tmp_path / "new" / "manifest.json").read_text())["format"]
        == model_folder.FORMAT
    )
    assert (again.inference, again.record, list(again.heads)) == (
        model.inference,
        model.record,
        list(model.heads),
    )
    for old, new in zip(model.heads.values(), again.heads.values()):
        assert (old.part, old.extra_logits, old.zero, old.rule) == (
            new.part,
            new.extra_logits,
            new.zero,
            new.rule,
        )


def test_both_heads_of_format_1_are_there_with_the_labels_of_texts_first():
    model = model_folder.load(OLD / "both")
    assert list(model.heads) == ["main", "tags"]
    assert [head.tags_tokens for head in model.heads.values()] == [False, True]


def test_a_settings_file_of_format_1_trains_again(tmp_path):
    tagger = load(shutil.copytree(OLD / "labels", tmp_path / "m"))
    texts = EXPECTED["labels"]["texts"] * 8
    again = tagger.set_params(objective="focal").fit(
        texts, [["a"], ["b"], ["a", "b"], [], ["b"]] * 8
    )
    assert again.model_.record.resolved["loss"]["name"] == "focal"


def test_a_folder_of_format_2_answers_as_it_did_with_both_its_heads():
    expected = json.loads((TWO / "expected.json").read_text(encoding="utf-8"))["both"]
    model = model_folder.load(TWO / "both")
    scores = model.scores(expected["texts"])
    np.testing.assert_allclose(scores.probabilities, expected["probabilities"], atol=2e-6)
    assert scores.chosen.tolist() == expected["chosen"]
    found = find_spans(model.alone("tags"), cut(expected["texts"], "words"))
    assert [found.row.tolist(), found.start.tolist(), found.end.tolist()] == expected["spans"]


def test_a_settings_file_of_format_2_says_what_it_said_of_tags():
    given = read_settings(TWO / "both" / "settings.toml")
    assert given["heads"] == {"tags": {"objective": "cecl", "weight": 0.5}}
    settings = resolve(given, "both")
    assert list(settings.heads) == ["main", "tags"]
    assert (settings.of("tags").objective, settings.weight_of("tags")) == ("cecl", 0.5)


def test_a_section_of_tags_where_none_were_learnt_says_nothing(tmp_path):
    (tmp_path / "a.toml").write_text(
        'objective = "bce"\n[data]\ntask = "many"\n[tags]\nweight = 1.0\n'
    )
    assert read_settings(tmp_path / "a.toml") == {"objective": "bce", "data": {"task": "many"}}


def test_a_section_of_tags_written_by_hand_holds_whatever_names_the_task(tmp_path):
    (tmp_path / "a.toml").write_text('[tags]\nobjective = "cecl"\nweight = 0.3\n')
    assert read_settings(tmp_path / "a.toml") == {
        "heads": {"tags": {"objective": "cecl", "weight": 0.3}}
    }


@pytest.mark.parametrize("line", ["data = 3", "heads = 3"])
def test_sections_that_are_no_tables_are_a_clear_error_beside_tags(line, tmp_path):
    (tmp_path / "a.toml").write_text(f"{line}\n[tags]\nweight = 2.0\n")
    with pytest.raises(SettingsError, match="must be a table"):
        resolve(read_settings(tmp_path / "a.toml"))


def test_a_manifest_that_states_an_older_format_than_its_files_have_is_refused(tmp_path):
    copy = shutil.copytree(TWO / "both", tmp_path / "m")
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    (copy / "manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    with pytest.raises(ModelError, match=r"manifest\.json states format 1, but"):
        model_folder.load(copy)
