"""A teacher is trained or loaded once, says the same whenever it is asked, and survives a kill."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from tagwright.errors import ModelError, SettingsError
from tagwright.inference import model_folder
from tagwright.labels.space import LabelSpace
from tagwright.links import probabilities
from tagwright.training.check import check
from tagwright.training.teacher import Teaching, plainly, require_labels
from tagwright.training.train import Run, fit

from ..pipelines.kills import Killed, Watching, same_bits

DISTIL = {"targets": {"name": "distil"}, "soft": {"role": "auxiliary"}}


@pytest.fixture
def teaching(make):
    def of(run=None, **sections):
        prepared, settings = make(**{**DISTIL, **sections})
        return Teaching(prepared=prepared, settings=settings, run=run or Run(), train=fit)

    return of


def weights(model):
    return model.network.state_dict()


def test_a_teacher_is_the_model_that_plain_settings_train(make, teaching):
    plain, distilled = make(), make(**DISTIL, fit={"refit": True})
    assert plainly(distilled[1]).as_dict() == plain[1].as_dict()
    assert same_bits(weights(teaching(fit={"refit": True}).model()), weights(fit(*plain).model))


def test_two_objectives_of_one_loss_share_a_teacher(make):
    keys = [
        prepared.fingerprint(plainly(settings))
        for prepared, settings in (make(**DISTIL), make(objective="focal"))
    ]
    assert keys[0] == keys[1]


def test_scores_are_the_logits_of_the_teacher_on_each_table(teaching):
    own = teaching(objective="bce")
    texts = [
        text for name in ("train", "dev") for text in own.prepared.tables[name]["text"].to_pylist()
    ]
    found = own.scores(["train", "dev"])
    np.testing.assert_allclose(found.logits, own.model().scores(texts).logits, rtol=1e-5, atol=1e-6)
    assert found.link == "sigmoid"
    assert found.logits.dtype == np.float32


def test_scores_of_a_teacher_with_focal_loss_are_log_odds(teaching):
    own = teaching(loss={"name": "focal"})
    texts = own.prepared.tables["dev"]["text"].to_pylist()
    found = own.scores(["dev"])
    expected = own.model().scores(texts).probabilities
    np.testing.assert_allclose(
        probabilities(found.logits, found.link), expected, rtol=1e-4, atol=1e-6
    )


def test_a_teacher_is_shown_and_said_and_trained_once(make):
    said, watching = [], Watching()
    fit(*make(**DISTIL), Run(progress=watching, say=said.append))
    assert watching.steps["teacher"] == watching.steps["fit"]
    assert said == ["a teacher is trained first: cnn with focal, labels as given"]


def test_a_run_without_a_teacher_trains_none(make):
    watching = Watching()
    fit(*make(targets={"name": "smooth"}), Run(progress=watching))
    assert list(watching.steps) == ["fit"]


@pytest.mark.parametrize(
    "kills",
    [[("teacher", 5)], [("teacher", 3), ("teacher", 9), ("fit", 4)], [("fit", 2), ("refit", 3)]],
)
def test_a_run_killed_with_its_teacher_ends_in_the_same_bits(make, tmp_path, kills):
    prepared, settings = make(**DISTIL, fit={"save_seconds": 0.0, "refit": True})
    whole, watching = fit(prepared, settings), Watching(*kills)
    for _ in kills:
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=tmp_path, progress=watching))
    again = fit(prepared, settings, Run(folder=tmp_path, progress=watching))
    assert same_bits(weights(whole.model), weights(again.model))
    assert watching.steps["teacher"] == 21, "a step was made twice"


def test_what_was_scored_is_not_scored_again(teaching, tmp_path, monkeypatch):
    first = teaching(Run(folder=tmp_path)).scores(["train"])
    monkeypatch.setattr(Teaching, "_logits", None)
    again = teaching(Run(folder=tmp_path)).scores(["train"])
    np.testing.assert_array_equal(again.logits, first.logits)
    assert again.link == first.link


def test_the_teacher_of_another_run_is_refused(teaching, tmp_path):
    teaching(Run(folder=tmp_path)).model()
    with pytest.raises(ModelError, match="other data or settings"):
        teaching(Run(folder=tmp_path), fit={"seed": 1}).model()


def test_shared_teachers_are_trained_once_for_each_seed(teaching, tmp_path):
    watching = Watching()
    run = Run(teachers=tmp_path, progress=watching)
    for seed, alpha in ((0, 1.0), (0, 2.0), (1, 1.0), (1, 2.0)):
        teaching(run, fit={"seed": seed}, soft={"role": "auxiliary", "alpha": alpha}).scores(
            ["train"]
        )
    assert watching.steps == {"teacher": 2 * 21}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_given_teacher_is_aligned_by_the_names_of_its_labels(teaching, trained, tmp_path):
    """The same weights with labels and rows of the head turned round say the same of each label."""
    model = model_folder.load(trained)
    head, space = model.network.heads["main"], model.heads["main"].space
    plain = teaching().scores(["train"], str(trained)).logits
    turned = LabelSpace(names=space.names[::-1], counts=space.counts[::-1])
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(parameter.flip(0))
    decision = make_zero()
    model_folder.save(
        replace(
            model,
            heads={
                "main": replace(model.heads["main"], space=turned, rule="zero", decision=decision)
            },
        ),
        tmp_path / "turned",
        card="",
    )
    np.testing.assert_allclose(
        teaching().scores(["train"], str(tmp_path / "turned")).logits, plain, rtol=1e-5
    )


def make_zero():
    from tagwright.decisions.zero import Zero

    return Zero()


def test_a_given_teacher_trains_none(make, trained):
    watching, said = Watching(), []
    given = {**DISTIL, "targets": {"name": "distil", "model": str(trained)}}
    fit(*make(**given), Run(progress=watching, say=said.append))
    assert list(watching.steps) == ["fit"]
    assert said == [f"the teacher is the model {trained}"]


def test_several_given_teachers_teach_together(make, trained, tmp_path):
    """A teacher and itself are that teacher; and whoever stands in the second folder changes the
    fingerprint.
    """
    shutil.copytree(trained, tmp_path / "again")
    one, two = str(trained), f"{trained},{tmp_path / 'again'}"
    runs = [
        make(**{**DISTIL, "targets": {"name": "distil", "model": model}}) for model in (one, two)
    ]
    assert same_bits(*(weights(fit(*run).model) for run in runs))
    before = runs[1][0].fingerprint(runs[1][1])
    (tmp_path / "again" / "manifest.json").write_text("{}")
    assert runs[1][0].fingerprint(runs[1][1]) != before


def test_another_model_in_the_folder_is_another_fingerprint(
    make, trained, single_trained, tmp_path
):
    found = []
    for model in (trained, single_trained):
        (tmp_path / "manifest.json").write_bytes((model / "manifest.json").read_bytes())
        prepared, settings = make(
            **{**DISTIL, "targets": {"name": "distil", "model": str(tmp_path)}}
        )
        found.append(prepared.fingerprint(settings))
    assert found[0] != found[1]


def test_labels_that_differ_are_listed(trained):
    space = LabelSpace(names=("city", "fruit", "metal", "sports", "tool"), counts=(1,) * 5)
    with pytest.raises(
        ModelError,
        match="only the data have sports; only the teacher has sport; train it on the same",
    ):
        require_labels(trained, space, "main")


def test_a_teacher_of_another_task_is_refused_before_training(
    make, trained, single_trained, tmp_path
):
    given = {**DISTIL, "targets": {"name": "distil", "model": str(single_trained)}}
    with pytest.raises(
        ModelError, match="for texts with exactly one label, these have any number of labels"
    ):
        check(*make(**given))
    for model in (f"{tmp_path / 'nowhere'}", f"{trained},{tmp_path / 'nowhere'}"):
        with pytest.raises(ModelError, match=r"no model folder [^,]*nowhere"):
            check(*make(**{**DISTIL, "targets": {"name": "distil", "model": model}}))


def test_soft_labels_beyond_memory_are_refused_before_training(make, monkeypatch):
    monkeypatch.setattr("tagwright.training.memory.free_bytes", lambda device: 2000)
    with pytest.raises(SettingsError, match=r"soft labels of 108 texts and 5 labels want 0\.0 GB"):
        check(*make(**DISTIL))
    check(*make())


@pytest.mark.parametrize("objective", ["zlpr", "focal", "asymmetric"])
def test_any_loss_with_probabilities_learns_beside_a_teacher(make, objective):
    fitted = fit(*make(objective=objective, **DISTIL, fit={"epochs": 8}))
    assert fitted.history[-1]["score"] > 0.8
