"""The model folder: what is saved comes back, and what was altered does not load."""

import json
import random
import shutil
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from tagwright import Tagger, load, registry
from tagwright.data.dataset import Size
from tagwright.errors import ModelError
from tagwright.inference import model_folder
from tagwright.models.network import Network
from tagwright.settings.merge import read_settings
from tagwright.settings.schema import resolve
from tagwright.storage.folder import sha256

TEXTS = ["", "tent", "a knife and a tent", "unheard words", "red " * 700]
ENCODERS = {
    "cnn": {"encoder": {"name": "cnn", "width": 8, "filters": 4}},
    "hashes": {"encoder": {"name": "cnn", "width": 8, "filters": 4}, "embed": {"name": "hashes"}},
    "lstm": {"encoder": {"name": "lstm"}},
    "bow": {"encoder": {"name": "bow"}},
}


def fitted(settings, **options):
    draw = random.Random(0)
    kinds = {"z-last": ["tent", "rope"], "a-first": ["knife", "pan"], "é": ["red", "blue"]}
    labels = [draw.sample(sorted(kinds), draw.choice([1, 2])) for _ in range(60)]
    texts = [
        " ".join(draw.choice(kinds[name]) for name in row for _ in range(2)) + f" x{n}"
        for n, row in enumerate(labels)
    ]
    return Tagger(settings=settings, epochs=2, dev_share=0.2, **options).fit(texts, labels)


@pytest.fixture(scope="module", params=ENCODERS)
def tagger(request):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield fitted(ENCODERS[request.param])
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "model"
    fitted(ENCODERS["cnn"]).save(path)
    return path


def files_of(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_loaded_model_gives_the_same_bits(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    model = model_folder.load(tmp_path / "m")
    before, after = tagger.model_.scores(TEXTS), model.scores(TEXTS)
    assert np.array_equal(before.logits, after.logits)
    assert np.array_equal(before.probabilities, after.probabilities)
    assert np.array_equal(before.chosen, after.chosen)


@pytest.mark.parametrize(("objective", "kept"), [("focal", [1.0, 0.0, 2.0]), ("bce", None)])
def test_what_corrects_probabilities_is_written_where_something_does(objective, kept, tmp_path):
    fitted(ENCODERS["cnn"], objective=objective).save(tmp_path / "m")
    decision = json.loads(
        (tmp_path / "m" / "heads" / "main" / "decision.json").read_text(encoding="utf-8")
    )
    assert decision.get("calibration") == kept


def test_labels_come_back_in_their_order_with_their_counts(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    assert (
        model_folder.load(tmp_path / "m").heads["main"].space == tagger.model_.heads["main"].space
    )


def test_what_was_given_and_what_it_resolved_to_come_back(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    again = model_folder.load(tmp_path / "m")
    assert again.record.given == tagger.model_.record.given
    assert resolve(again.record.resolved) == resolve(again.record.given, "many", Size(60, 3))
    assert again.inference == tagger.model_.inference


def test_given_back_the_settings_file_repeats_what_was_given(tmp_path):
    """The resolved settings hold every default, and would hold them against another encoder as
    well.
    """
    fitted(ENCODERS["cnn"], objective="zlpr").save(tmp_path / "m")
    given = read_settings(tmp_path / "m" / "settings.toml")
    assert given == {
        **ENCODERS["cnn"],
        "objective": "zlpr",
        "fit": {"epochs": 2},
        "split": {"dev_share": 0.2},
    }


def test_loading_needs_no_setting_of_the_training(folder, tmp_path):
    """What trained a model may be gone from the program, or a newer version may refuse it."""
    copy = shutil.copytree(folder, tmp_path / "m")
    (copy / "resolved.toml").write_text(
        'objective = "gone"\n\n[fit]\nepochs = "never"\n\n[lost]\nx = 1\n'
    )
    (copy / "settings.toml").write_text('objective = "gone"\n')
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["sha256"] |= {name: sha256(copy / name) for name in ("resolved.toml", "settings.toml")}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert np.array_equal(
        model_folder.load(copy).scores(TEXTS).logits, model_folder.load(folder).scores(TEXTS).logits
    )
    assert load(copy).predict(["tent"])


def test_a_model_without_its_card_loads(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "m")
    (copy / "README.md").unlink()
    assert load(copy).predict(["tent"])


def test_rewriting_changes_heads_and_card_and_links_the_rest(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "m")
    weights, model = (copy / "model.safetensors").stat().st_ino, model_folder.load(copy)
    argmax = registry.build("decisions", "topk", {"k": 1})
    head = replace(model.primary, rule="topk", decision=argmax)
    model_folder.rewrite(replace(model, heads={"main": head}), copy, card="# New")
    again = model_folder.load(copy)
    assert (again.primary.rule, (copy / "README.md").read_text()) == ("topk", "# New")
    assert (copy / "model.safetensors").stat().st_ino == weights
    assert np.array_equal(again.scores(TEXTS).logits, model.scores(TEXTS).logits)
    assert files_of(copy) == files_of(folder)


def test_heads_may_have_any_names_and_keep_their_order(folder, tmp_path):
    model = model_folder.load(folder)
    heads = {"topics": model.primary, "audience": model.primary}
    network = Network(
        model.network.encoder, {name: deepcopy(model.network.heads["main"]) for name in heads}
    )
    model_folder.save(replace(model, heads=heads, network=network), tmp_path / "m", card="")
    again = model_folder.load(tmp_path / "m")
    assert (list(again.heads), again.first) == (["topics", "audience"], "topics")
    for name in (None, *heads):
        assert np.array_equal(again.scores(TEXTS, head=name).logits, model.scores(TEXTS).logits)


def test_saving_a_loaded_model_gives_the_same_files(folder, tmp_path):
    model = model_folder.load(folder)
    model_folder.save(model, tmp_path / "again", card=(folder / "README.md").read_text("utf-8"))
    assert files_of(tmp_path / "again") == files_of(folder)
    for name in files_of(folder):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_folder_moves_and_is_read_from_anywhere(folder, tmp_path):
    moved = shutil.copytree(folder, tmp_path / "else" / "where")
    assert np.array_equal(
        model_folder.load(moved).scores(TEXTS).logits,
        model_folder.load(folder).scores(TEXTS).logits,
    )


def test_every_file_that_loading_reads_is_watched(folder, tmp_path):
    for name in files_of(folder):
        if name in ("manifest.json", "README.md"):
            continue
        copy = shutil.copytree(folder, tmp_path / name.replace("/", "-"))
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / name).write_bytes(content)
        with pytest.raises(ModelError, match=name.rpartition("/")[2]):
            model_folder.load(copy)


def test_every_file_that_loading_reads_is_missed(folder, tmp_path):
    for name in files_of(folder):
        if name == "README.md":
            continue
        copy = shutil.copytree(folder, tmp_path / name.replace("/", "-"))
        (copy / name).unlink()
        with pytest.raises(ModelError, match=name.rpartition("/")[2]):
            model_folder.load(copy)


@pytest.mark.parametrize(
    "name",
    ["notes.txt", "heads/.DS_Store", "heads/stray/notes.txt", "tokenizer/x", "learned.safetensors"],
)
def test_a_stray_file_is_ignored(folder, tmp_path, name):
    copy = shutil.copytree(folder, tmp_path / "m")
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("stray")
    assert np.array_equal(
        model_folder.load(copy).scores(TEXTS).logits, model_folder.load(folder).scores(TEXTS).logits
    )


def test_a_stray_head_is_not_loaded(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "m")
    shutil.copytree(copy / "heads" / "main", copy / "heads" / "other")
    assert list(model_folder.load(copy).heads) == ["main"]


def test_another_format_is_refused_with_what_to_do(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "m")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "format": 3}))
    with pytest.raises(ModelError, match=r"format 3.*update"):
        model_folder.load(copy)


def test_a_folder_that_is_not_there_says_how_to_make_one(tmp_path):
    with pytest.raises(ModelError, match="tagwright fit"):
        model_folder.load(tmp_path / "nowhere")


def test_the_manifest_says_format_and_versions(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == 2
    assert {"python", "tagwright", "torch", "numpy"} <= set(manifest["versions"])
    assert set(manifest["sha256"]) >= set(files_of(folder)) - {"manifest.json", "README.md"}


def test_a_card_edited_by_hand_does_not_stop_loading(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "m")
    with (copy / "README.md").open("a") as card:
        card.write("\nContact: the shop team.\n")
    assert model_folder.load(copy)


def test_nothing_is_pickled(folder):
    assert not any(b"\x80\x04\x95" in (folder / name).read_bytes() for name in files_of(folder))
    assert {name.rpartition(".")[2] for name in files_of(folder)} == {
        "json",
        "toml",
        "safetensors",
        "md",
    }


def test_labels_are_written_as_they_are_read(folder):
    assert "é" in (folder / "heads/main/labels.json").read_text("utf-8")


def test_json_files_are_plain_json(folder):
    for name in files_of(folder):
        if name.endswith(".json"):
            json.loads(
                (folder / name).read_text("utf-8"),
                parse_constant=lambda word, name=name: pytest.fail(f"{name}: {word}"),
            )


def test_thresholds_join_by_name(folder):
    content = json.loads((folder / "heads/main/decision.json").read_text("utf-8"))
    assert set(content["thresholds"]) == {"z-last", "a-first", "é"}
