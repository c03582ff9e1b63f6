"""What `fit` may replace, what it refuses first, and what a failure leaves behind."""

from pathlib import Path

import pytest

from tagwright.errors import DataError, ModelError, SettingsError, TagwrightError
from tagwright.pipelines.fit import fit_folder, run_folder
from tagwright.storage.lock import LOCK
from tagwright.training.step_stream import Interrupted


def tree(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


@pytest.mark.parametrize(
    "flags", [{"overwrite": True}, {"resume": True}, {}], ids=["overwrite", "resume", "plain"]
)
@pytest.mark.parametrize("place", ["model/thesis.txt", "model", "model.run/thesis.txt"])
def test_what_others_made_is_never_replaced(source, tiny, tmp_path, place, flags):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("mine")
    with pytest.raises(
        ModelError, match=r"exists and is no (model|run) folder; choose another --out"
    ):
        fit_folder(str(source), tiny(), out=tmp_path / "model", **flags)
    assert tree(tmp_path) == {place: b"mine"}


def test_overwriting_a_run_leaves_what_a_person_put_beside_it(source, tiny, tmp_path):
    out = tmp_path / "model"
    fit_folder(str(source), tiny(fit={"epochs": 1}), out=out)
    (run_folder(out) / "notes.txt").write_text("mine")
    fit_folder(str(source), tiny(fit={"epochs": 1}), out=out, overwrite=True)
    assert (run_folder(out) / "notes.txt").read_text() == "mine"


def test_the_working_folder_can_be_named(source, tiny, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run_folder(Path(".")) == tmp_path / "here.run"
    fit_folder(str(source), tiny(fit={"epochs": 1}), out=Path("."), overwrite=True)
    assert (tmp_path / "here" / "manifest.json").exists()


def test_a_run_that_fails_before_its_first_checkpoint_leaves_nothing(source, tiny, tmp_path):
    with pytest.raises(TagwrightError):
        fit_folder(str(source), tiny(fit={"learning_rate": 1e30}), out=tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_decision_that_cannot_be_is_refused_before_training(
    source, single_source, tiny, tmp_path
):
    many = [{"name": "topk", "k": 0}, {"name": "fixed", "probability": 2.0}]
    one = [{"name": "threshold"}, {"name": "zero"}, {"name": "topk", "k": 2}]
    for path, decide in [(source, d) for d in many] + [(single_source, d) for d in one]:
        with pytest.raises(SettingsError):
            fit_folder(str(path), tiny(decide=decide), out=tmp_path / "model", progress=pytest.fail)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_run_hides_no_other_mistake(source, tiny, tmp_path):
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        fit_folder(str(source), tiny(), out=out, asked=lambda: True)
    with pytest.raises(DataError, match="nowhere"):
        fit_folder("nowhere.csv", tiny(), out=out)
    with pytest.raises(SettingsError, match="nonsense"):
        fit_folder(str(source), tiny(fit={"metric": "nonsense"}), out=out)
    with pytest.raises(ModelError, match="unfinished run"):
        fit_folder(str(source), tiny(), out=out)


def test_the_outcome_tells_of_a_refit_also_when_it_is_read_back(source, tiny, tmp_path):
    given = tiny(fit={"epochs": 1, "refit": True})
    first = fit_folder(str(source), given, out=tmp_path / "m")
    assert first.refitted_on == first.as_dict()["refitted_on"] == 120
    assert fit_folder(str(source), given, out=tmp_path / "m", resume=True).refitted_on == 120
    assert (
        "trained again on train and dev (120 texts)" in (tmp_path / "m" / "README.md").read_text()
    )


def test_a_run_that_ended_while_teaching_goes_on_and_leaves_no_teacher(source, tiny, tmp_path):
    given = tiny(targets={"name": "distil"}, soft={"role": "auxiliary"}, fit={"epochs": 1})
    whole, out, count = tmp_path / "whole", tmp_path / "model", iter(range(100))
    fit_folder(str(source), given, out=whole)
    with pytest.raises(Interrupted):
        fit_folder(str(source), given, out=out, asked=lambda: next(count) == 3)
    assert {path.name for path in run_folder(out).iterdir()} == {"teacher", LOCK}
    fit_folder(str(source), given, out=out, resume=True)
    assert {path.name for path in run_folder(out).iterdir()} == {"report.html", "outcome.json"}
    for name in ("model.safetensors", "heads/main/metrics.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_a_run_that_ended_while_teaching_can_be_overwritten(source, tiny, tmp_path):
    given, out = tiny(targets={"name": "distil"}, fit={"epochs": 1}), tmp_path / "model"
    with pytest.raises(Interrupted):
        fit_folder(str(source), given, out=out, asked=lambda: True)
    with pytest.raises(ModelError, match="other data or settings"):
        fit_folder(str(source), {**given, "fit": {**given["fit"], "seed": 1}}, out=out, resume=True)
    fit_folder(str(source), {**given, "fit": {**given["fit"], "seed": 1}}, out=out, overwrite=True)


def test_a_kill_while_an_old_run_is_cleared_leaves_a_folder_that_goes_on(
    source, tiny, tmp_path, monkeypatch
):
    """The marks of a run folder went first, and no command took what was left."""
    out, quick = tmp_path / "m", tiny(fit={"epochs": 1})
    fit_folder(str(source), quick, out=out)
    real = Path.unlink

    def killed(path, *arguments, **options):
        if path.name == "report.html":
            raise KeyboardInterrupt
        real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            fit_folder(str(source), quick, out=out, overwrite=True)
    assert fit_folder(str(source), quick, out=out, overwrite=True).metrics
