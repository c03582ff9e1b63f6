"""Another decision for a trained model."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.errors import DataError, SettingsError
from tagwright.inference import model_folder
from tagwright.pipelines.decide import redecide

FOLDERS = Path(__file__).parents[1] / "folders"


@pytest.fixture
def model(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "model")


@pytest.fixture(scope="module")
def dev(tmp_path_factory, rows_of, write_csv):
    return write_csv(tmp_path_factory.mktemp("dev") / "new.csv", rows_of(60, seed=8))


def tree(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def changed(folder, source, rule="threshold", assignments=(), split=None):
    return redecide(
        folder, source and str(source), rule=rule, assignments=list(assignments), split=split
    )


def test_thresholds_are_fitted_anew_and_the_weights_stay(model, dev):
    before = tree(model)
    done = changed(model, dev)
    after = tree(model)
    moved = {name for name in before if before[name] != after[name]}
    assert "heads/main/decision.json" in moved
    assert "model.safetensors" not in moved
    assert done.rule == "threshold"
    assert 0 <= done.metrics["macro_f1"] <= 1


def test_a_fixed_rule_needs_no_data_and_decides_from_then_on(model):
    changed(model, None, "fixed", ["probability=0.3"])
    loaded = model_folder.load(model)
    scores = loaded.scores(["paris hammer", "plum"])
    assert (scores.chosen == (scores.probabilities > 0.3)).all()
    assert json.loads((model / "heads/main/metrics.json").read_text())["metrics"] == {}


def test_figures_of_a_fixed_rule_on_data_are_those_of_scikit_learn(model, dev, rows_of):
    done = changed(model, dev, "topk", ["k=2"])
    loaded = model_folder.load(model)
    rows = rows_of(60, seed=8)
    truth = np.array(
        [[n in row[2].split(";") for n in loaded.heads["main"].space.names] for row in rows]
    )
    chosen = loaded.scores([row[1] for row in rows]).chosen
    assert done.metrics["micro_f1"] == pytest.approx(f1_score(truth, chosen, average="micro"))


@pytest.mark.parametrize(
    ("rule", "assignments", "error"),
    [
        ("treshold", [], SettingsError),
        ("fixed", ["probabilty=0.3"], SettingsError),
        ("fixed", ["probability=3"], SettingsError),
        ("fixed", ["probability"], SettingsError),
        ("threshold", [], SettingsError),
    ],
)
def test_a_mistake_leaves_the_model_as_it_was(model, rule, assignments, error):
    before = tree(model)
    with pytest.raises(error):
        changed(model, None, rule, assignments)
    assert tree(model) == before


def test_data_without_a_known_label_column_leave_the_model_as_it_was(model, tmp_path):
    before = tree(model)
    with pytest.raises(DataError):
        changed(model, tmp_path / "nowhere.csv")
    assert tree(model) == before


def test_the_card_tells_the_new_rule_and_no_old_figures(model):
    old = (model / "README.md").read_text()
    changed(model, None, "fixed", ["probability=0.3"])
    card = (model / "README.md").read_text()
    assert "fitted on dev" in old
    assert "fitted on dev" not in card


def test_the_rule_survives_a_second_change(model, dev):
    changed(model, None, "zero")
    changed(model, dev, "threshold", ["shrink=5"])
    assert model_folder.load(model).heads["main"].rule == "threshold"


def test_a_split_can_be_named(model, split_source):
    assert changed(model, split_source).split == "dev"
    assert changed(model, split_source, split="train").split == "train"


def test_by_itself_a_model_of_several_labels_gets_thresholds_and_takes_their_settings(model, dev):
    done = changed(model, dev, "auto", ["shrink=5"])
    assert done.rule == "threshold"
    assert model_folder.load(model).heads["main"].decision.shrink == 5


def test_by_itself_a_one_label_model_stays_with_the_highest_score(
    single_trained, single_source, tmp_path
):
    folder = shutil.copytree(single_trained, tmp_path / "one")
    done = changed(folder, single_source, "auto")
    assert done.rule == "argmax"
    assert done.metrics["accuracy"] > 0.5
    assert changed(folder, None, "auto").rule == "argmax"


@pytest.mark.parametrize("rule", ["threshold", "zero", "fixed", "topk"])
def test_a_one_label_model_refuses_a_rule_that_may_choose_none_or_several(
    single_trained, single_source, rule
):
    before = tree(single_trained)
    with pytest.raises(SettingsError, match="take argmax"):
        changed(single_trained, single_source, rule)
    assert tree(single_trained) == before


@pytest.mark.parametrize(
    ("head", "rule", "chosen"), [(None, "zero", "main"), ("tags", "spans", "tags")]
)
def test_every_head_of_a_model_with_labels_and_tags_stays(tmp_path, head, rule, chosen):
    """The head for tokens was dropped, and the folder did not load any more."""
    folder = shutil.copytree(FOLDERS / "format-1" / "both", tmp_path / "both")
    before = model_folder.load(folder)
    done = redecide(folder, None, rule=rule, assignments=["legal=false"] if head else [], head=head)
    after = model_folder.load(folder)
    assert (done.head, list(after.heads)) == (chosen, ["main", "tags"])
    assert after.heads[chosen].rule == rule
    other = next(name for name in after.heads if name != chosen)
    assert vars(after.heads[other].decision).keys() == vars(before.heads[other].decision).keys()
    assert after.heads[other].metrics == before.heads[other].metrics
    assert np.array_equal(after.scores(["tent pan"]).logits, before.scores(["tent pan"]).logits)


def test_a_head_that_is_not_there_is_an_error_with_the_choices(model):
    with pytest.raises(SettingsError, match=r"unknown head 'tag'.*main"):
        redecide(model, None, rule="zero", head="tag")


def test_a_model_without_its_card_is_decided_anew(model):
    (model / "README.md").unlink()
    changed(model, None, "fixed", ["probability=0.3"])
    assert model_folder.load(model).primary.rule == "fixed"


def test_the_card_says_nothing_of_what_the_old_rule_chose(model):
    changed(model, None, "fixed", ["probability=0.9"])
    card = (model / "README.md").read_text(encoding="utf-8")
    assert "Every label whose probability is above" in card
    for words in ("get no label", "Never predicted on", "| F1 on dev |"):
        assert words not in card


def test_a_card_without_sections_or_none_at_all_gets_them(model):
    for content in ("# Mine\n", None):
        if content is None:
            (model / "README.md").unlink()
        else:
            (model / "README.md").write_text(content)
        changed(model, None, "fixed", ["probability=0.3"])
        card = (model / "README.md").read_text(encoding="utf-8")
        assert card.startswith("# Mine\n" if content else "# A text tagger made with Tagwright\n")
        assert card.index("## Decision rule\n\nEvery label") < card.index(
            "## Results\n\nNot measured"
        )
