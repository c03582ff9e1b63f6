"""What goes wrong after training leaves the trained model in its folder."""

import pytest

from tagwright.errors import ModelError
from tagwright.inference import model_folder
from tagwright.pipelines import fit as module
from tagwright.pipelines.fit import fit_folder, run_folder

TINY = {
    "encoder": {"name": "cnn", "width": 8, "filters": 4},
    "fit": {"epochs": 1, "batch": 16, "learning_rate": 0.03},
}


def broken(*arguments, **options):
    raise KeyError("a rule that nobody tried")


def test_a_decision_that_cannot_be_fitted_leaves_a_model_that_loads(source, tmp_path, monkeypatch):
    """A new decision rule raised KeyError after training, and the model was lost."""
    monkeypatch.setattr(module, "decided", broken)
    with pytest.raises(
        ModelError, match=r"trained and saved in .*m, but its decision .*a rule that nobody tried"
    ):
        fit_folder(str(source), TINY, out=tmp_path / "m")
    model = model_folder.load(tmp_path / "m")
    assert model.primary.rule == "zero"
    assert model.scores(["a hammer"]).probabilities.shape == (1, len(model.primary.space))


def test_the_run_goes_on_after_a_decision_that_failed(source, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "decided", broken)
        with pytest.raises(ModelError):
            fit_folder(str(source), TINY, out=tmp_path / "m")
    done = fit_folder(str(source), TINY, out=tmp_path / "m", resume=True)
    assert (model_folder.load(tmp_path / "m").primary.rule, done.metrics["lrap"] > 0) == (
        "threshold",
        True,
    )


@pytest.mark.parametrize(
    ("step", "what"), [("card_of", "the model card"), ("report_pages", "the report")]
)
def test_a_description_that_fails_is_said_and_the_model_is_complete(
    source, tmp_path, monkeypatch, step, what
):
    told: list[str] = []
    monkeypatch.setattr(module, step, broken)
    done = fit_folder(str(source), TINY, out=tmp_path / "m", say=told.append)
    assert any(sentence.startswith(f"{what} could not be made (KeyError") for sentence in told)
    assert model_folder.load(tmp_path / "m").primary.metrics["metrics"] == pytest.approx(
        done.metrics, nan_ok=True
    )
    assert (run_folder(tmp_path / "m") / "outcome.json").is_file()


def test_the_model_is_saved_before_it_is_decided_upon(source, tmp_path, monkeypatch):
    real, seen = module.decided, []

    def looking(trained):
        seen.append(model_folder.load(tmp_path / "m").primary.rule)
        return real(trained)

    monkeypatch.setattr(module, "decided", looking)
    fit_folder(str(source), TINY, out=tmp_path / "m")
    assert seen == ["zero"]
