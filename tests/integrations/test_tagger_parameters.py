"""The scikit-learn face: which parameter or setting decides."""

from tagwright import Tagger, load
from tagwright.settings.schema import resolve

KINDS = [n % 3 for n in range(75)]
TEXTS = [f"{['apple pear', 'hammer saw', 'paris rome'][k]} x{n}" for n, k in enumerate(KINDS)]
SINGLE = [["fruit", "tool", "city"][k] for k in KINDS]


def test_parameters_set_on_a_loaded_tagger_win_over_its_settings(tmp_path):
    Tagger(encoder="bow", epochs=2).fit(TEXTS, SINGLE).save(tmp_path / "m")
    made = load(tmp_path / "m").set_params(
        encoder="cnn", epochs=1, objective="zlpr", seed=3, dev_share=0.2
    )
    settings = resolve(made.fit(TEXTS, SINGLE).model_.record.resolved)
    assert (settings.encoder.name, settings.objective, settings.loss.name) == (
        "cnn",
        "zlpr",
        "zlpr",
    )
    assert (settings.fit.epochs, settings.fit.seed, settings.split.dev_share) == (1.0, 3, 0.2)
    assert settings.embed.name == "word"  # cnn's, not bow's


def test_a_parameter_keeps_the_settings_of_its_part():
    fitted = Tagger(encoder="cnn", epochs=0.1, settings={"encoder": {"filters": 5}}).fit(
        TEXTS, SINGLE
    )
    assert fitted.model_.inference.encoder.options["filters"] == 5


def test_settings_decide_where_no_parameter_is_given():
    fitted = Tagger(settings={"encoder": "bow", "fit": {"epochs": 1, "seed": 7}}).fit(TEXTS, SINGLE)
    assert (
        fitted.model_.inference.encoder.name,
        resolve(fitted.model_.record.resolved).fit.seed,
    ) == ("bow", 7)
