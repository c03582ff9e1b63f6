"""Training with words that labels depend on: who is excused, and that a killed run ends in the same
bits.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.data import read_data
from tagwright.errors import DataError
from tagwright.explain.dependencies import find_elements
from tagwright.inference import model_folder
from tagwright.masks.dependencies import read_elements
from tagwright.masks.elements import element_mask
from tagwright.settings.schema import resolve
from tagwright.targets.hard import hard
from tagwright.training import element_mask as module
from tagwright.training.check import check
from tagwright.training.element_mask import GIVEN, excused_rows, summary
from tagwright.training.prepare import prepare
from tagwright.training.step_stream import Interrupted
from tagwright.training.teacher import Teaching
from tagwright.training.train import Run, fit

from ..pipelines.kills import Killed, Watching, same_bits

WORDS = [
    ("paris", "city"),
    ("paris", "tool"),
    ("iron", "metal"),
    ("iron", "tool"),
    ("saw", "tool"),
    ("the", "fruit"),
]


@pytest.fixture(scope="module")
def make(source, tiny):
    data = read_data(source)

    def prepared_and_settings(**sections):
        settings = resolve(
            tiny(**{"decide": {"name": "zero"}, "objective": "maskloss-elem", **sections})
        )
        return prepare(data, settings), settings

    return prepared_and_settings


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A file of elements, in which labels share words."""
    path = tmp_path_factory.mktemp("elements") / "words.csv"
    path.write_text("word,label\n" + "".join(f"{word},{label}\n" for word, label in WORDS))
    return str(path)


def weights(fitted):
    return fitted.model.network.state_dict()


def by_loops(prepared, names):
    """Labels of the text's words that are not gold, where a gold one is among them."""
    rows = []
    for name in names:
        table = prepared.tables[name]
        for text, gold in zip(table["text"].to_pylist(), table["labels"].to_pylist()):
            union = {label for word, label in WORDS if word in text.split()}
            free = union - set(gold) if union & set(gold) else set()
            rows.append([label in free for label in prepared.space.names])
    return rows


@pytest.mark.parametrize("names", [["train"], ["train", "dev"]])
def test_excused_labels_are_those_of_loops_over_the_texts(make, words, names):
    prepared, settings = make(mask={"words": words})
    said = []
    teaching = Teaching(prepared=prepared, settings=settings, run=Run(say=said.append), train=fit)
    target = csr_array(
        np.vstack([hard(prepared.tables[name], prepared.space).toarray() for name in names])
    )
    found = excused_rows(teaching, names, element_mask(words=words), target)
    assert found.dtype == bool
    assert found.toarray().tolist() == by_loops(prepared, names)
    assert found.sum() > 10
    expected = [summary(found)] if names == ["train"] else []
    assert said == expected


def test_how_much_is_excused_is_said_and_nothing_is_a_warning():
    some = csr_array(np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]], bool))
    assert summary(some) == "mask by words: 2 of 3 texts excuse labels, 1.5 of 3 on average"
    assert "the mask does nothing; lower mask.threshold" in summary(csr_array((3, 3), dtype=bool))
    assert "does nothing; mask.words must have a text's gold label" in summary(
        csr_array((3, 3), dtype=bool), GIVEN
    )


def test_a_file_of_words_needs_no_teacher_and_changes_the_weights(make, words):
    watching = Watching()
    masked = fit(*make(mask={"words": words, "plain_share": 0.0}), Run(progress=watching))
    assert list(watching.steps) == ["fit"]
    assert not same_bits(weights(masked), weights(fit(*make(mask={"name": "none"}))))


def test_without_masked_steps_it_is_the_baseline_to_the_bit(make, words):
    masked = fit(*make(mask={"words": words, "plain_share": 1.0}))
    assert same_bits(weights(masked), weights(fit(*make(mask={"name": "none"}))))


@pytest.mark.parametrize("draw", ["step", "example"])
def test_a_run_with_a_file_that_is_killed_ends_in_the_same_bits(make, words, tmp_path, draw):
    prepared, settings = make(
        mask={"words": words, "draw": draw}, fit={"save_seconds": 0.0, "refit": True}
    )
    whole, watching = fit(prepared, settings), Watching(("fit", 5), ("refit", 2))
    for _ in range(2):
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=tmp_path, progress=watching))
    assert same_bits(weights(whole), weights(fit(prepared, settings, Run(folder=tmp_path))))


def test_a_file_without_a_label_of_the_data_is_refused_before_training(make, tmp_path):
    (tmp_path / "words.csv").write_text("word,label\nparis,citty\n")
    with pytest.raises(
        DataError, match=r"none of its labels is in the data: 'citty' \(did you mean 'city'\?\)"
    ):
        check(*make(mask={"words": str(tmp_path / "words.csv")}))


def test_an_edited_file_is_another_fingerprint(make, tmp_path):
    path, found = tmp_path / "words.csv", []
    for label in ("city", "tool", "tool"):
        path.write_text(f"word,label\nparis,{label}\n")
        prepared, settings = make(mask={"words": str(path)})
        found.append(prepared.fingerprint(settings))
    assert found[0] != found[1] == found[2]


QUICK = {"threshold": 0.1, "select": "all"}


def test_words_are_found_with_a_teacher_and_written(make, tmp_path):
    prepared, settings = make(mask=QUICK)
    said, watching = [], Watching()
    fit(prepared, settings, Run(folder=tmp_path, say=said.append, progress=watching))
    assert watching.steps == {"teacher": 21, "fit": 21}
    teacher = fit(*make(mask={"name": "none"})).model
    expected = find_elements(teacher, prepared.tables["train"], **QUICK).elements
    found = read_elements(tmp_path / "elements.csv")
    assert len(expected) > 5
    assert found.by_word == expected.by_word
    assert [sentence.split(":")[0] for sentence in said] == [
        "a teacher is trained first",
        "words that labels depend on are looked for",
        "words",
        "mask by words",
    ]


def test_the_found_words_are_those_of_a_file_with_them(make, tmp_path):
    found = fit(*make(mask={**QUICK, "plain_share": 0.0}), Run(folder=tmp_path))
    given = fit(*make(mask={"words": str(tmp_path / "elements.csv"), "plain_share": 0.0}))
    assert same_bits(weights(found), weights(given))


def test_a_model_to_find_words_with_can_be_given(make, trained, tmp_path):
    watching = Watching()
    fit(*make(mask={**QUICK, "model": str(trained)}), Run(folder=tmp_path, progress=watching))
    assert list(watching.steps) == ["fit"]
    prepared, _ = make()
    expected = find_elements(model_folder.load(trained), prepared.tables["train"], **QUICK).elements
    assert read_elements(tmp_path / "elements.csv").by_word == expected.by_word


def test_a_run_killed_anywhere_ends_in_the_same_bits(make, tmp_path, monkeypatch):
    prepared, settings = make(mask=QUICK, fit={"save_seconds": 0.0, "refit": True})
    whole, watching = fit(prepared, settings), Watching(("teacher", 5), ("fit", 4), ("refit", 3))
    real, asked = module.find_elements, []

    def interrupted(*given, **options):
        """Ends once in the middle of the search."""
        asked.append(1)
        if len(asked) == 1:
            real(*given, **options)
            raise Killed
        return real(*given, **options)

    monkeypatch.setattr(module, "find_elements", interrupted)
    for _ in range(4):
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=tmp_path, progress=watching))
    again = fit(prepared, settings, Run(folder=tmp_path, progress=watching))
    assert same_bits(weights(whole), weights(again))
    assert watching.steps["teacher"] == 21, "a step was made twice"
    assert len(asked) == 2, "what was found is found again"


def test_a_search_ends_when_the_run_is_asked_to_stop_and_goes_on(make, tmp_path):
    prepared, settings = make(mask=QUICK)
    teaching = Teaching(prepared=prepared, settings=settings, run=Run(folder=tmp_path), train=fit)
    teaching.model()
    with pytest.raises(Interrupted, match="while words are looked for"):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: True))
    fit(prepared, settings, Run(folder=tmp_path))
    assert not list(tmp_path.rglob("*.blocks"))


def test_a_refit_takes_the_words_that_were_found(make, monkeypatch):
    real, asked = module.find_elements, []
    monkeypatch.setattr(module, "find_elements", lambda *a, **k: asked.append(1) or real(*a, **k))
    watching = Watching()
    fit(*make(mask=QUICK, fit={"refit": True}), Run(progress=watching))
    assert asked == [1]
    assert set(watching.steps) == {"teacher", "fit", "refit"}


def test_runs_that_share_a_teacher_share_its_words(make, tmp_path, monkeypatch):
    real, asked = module.find_elements, []
    monkeypatch.setattr(
        module, "find_elements", lambda *a, **k: asked.append(k["threshold"]) or real(*a, **k)
    )
    for threshold, share in ((0.1, 0.0), (0.1, 0.5), (0.2, 0.5)):
        fit(*make(mask={"threshold": threshold, "plain_share": share}), Run(teachers=tmp_path))
    assert asked == [0.1, 0.2]


def test_a_threshold_that_nothing_passes_is_a_warning_and_the_baseline(make, tmp_path):
    said = []
    given = {"threshold": 0.999999, "plain_share": 0.0}
    for _ in range(2):  # found, and read back
        masked = fit(*make(mask=given), Run(folder=tmp_path, say=said.append))
    assert said.count(summary(csr_array((1, 1), dtype=bool))) == 2
    assert not (tmp_path / "elements.csv").exists()  # a file of none would be refused
    assert same_bits(weights(masked), weights(fit(*make(mask={"name": "none"}))))


def test_soft_labels_and_masks_share_one_teacher(make, tmp_path):
    watching = Watching()
    both = {"mask": QUICK, "targets": {"name": "distil"}, "soft": {"role": "auxiliary"}}
    fit(*make(**both, objective="maskloss-elem"), Run(folder=tmp_path, progress=watching))
    assert watching.steps == {"teacher": 21, "fit": 21}
