"""Settings: what is given is checked all at once, what is resolved reads back as itself."""

import tomllib

import pytest

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.settings.schema import (
    DEFAULTS,
    PART_SECTIONS,
    PLAIN_SECTIONS,
    FitSettings,
    check_settings,
    resolve,
)


def faults_of(given):
    with pytest.raises(SettingsError) as caught:
        resolve(given)
    return str(caught.value).splitlines()


def test_nothing_given_resolves_to_the_defaults():
    settings = resolve({})
    assert settings.fit == FitSettings()
    assert settings.objective == "focal"
    assert {name: getattr(settings, name).name for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize(
    ("encoder", "task", "objective"),
    [
        ("cnn", "many", "focal"),
        ("cnn", "one", "cross_entropy"),
        ("bow", "many", "bce"),
        ("bow", "one", "squared_hinge"),
        ("bat", "tokens", "cross_entropy"),
        ("bat", "both", "bce"),
    ],
)
def test_the_objective_is_that_of_task_and_encoder(encoder, task, objective):
    assert resolve({"encoder": {"name": encoder}}, task).objective == objective


def test_every_fault_is_reported_at_once():
    faults = faults_of(
        {
            "fitt": {},
            "fit": {"epoch": 3, "batch": "many"},
            "encoder": {"name": "cnn", "filter": 4},
            "schedule": "lineer",
            "mask": {"name": "none", "rate": 0.5},
        }
    )
    text = "\n".join(faults)
    for word in ("fitt", "epoch", "fit.batch", "'filter'", "lineer", "[mask]"):
        assert word in text
    assert len(faults) == 6


def test_values_that_parts_refuse_are_reported_with_the_other_faults():
    given = {
        "fit": {"epoch": 3},
        "decide": {"name": "topk", "k": 0},
        "loss": {"name": "dice", "smooth": -1.0},
    }
    faults = faults_of(given)
    assert len(faults) == 3
    for words in (
        "'epoch'",
        "topk: decide.k must be at least 1, got 0",
        "dice: smooth must be above 0, got -1",
    ):
        assert any(words in fault for fault in faults), words


def test_an_unknown_objective_does_not_hide_other_faults():
    text = "\n".join(faults_of({"objective": "bcee", "fit": {"epoch": 3}, "encoder": "cnnn"}))
    assert "bcee" in text
    assert "'epoch'" in text
    assert "cnnn" in text


def test_a_fault_is_reported_once():
    assert len(faults_of({"encoder": "cnnn"})) == 1
    assert len(faults_of({"encoder": {"name": "cnn", "filter": 4}})) == 1


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        ({"encoder": "lsmt"}, "did you mean 'lstm'?"),
        ({"fit": {"epoch": 1}}, "did you mean 'epochs'?"),
        ({"objective": "zlp"}, "did you mean 'zlpr'?"),
        ({"lossy": {}}, "did you mean 'loss'?"),
    ],
)
def test_an_unknown_name_brings_the_nearest(given, nearest):
    assert nearest in faults_of(given)[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("epochs", "3"),
        ("epochs", True),
        ("batch", 1.5),
        ("refit", 1),
        ("metric", 3),
        ("seed", True),
        ("vectors", 3),
    ],
)
def test_a_value_of_another_type_is_a_fault(key, value):
    assert faults_of({"fit": {key: value}})[0].startswith(f"fit.{key} must be of type ")


@pytest.mark.parametrize(
    ("key", "value"),
    [("batch", 0), ("accumulate", 0), ("evaluations", 0.0), ("epochs", -1.0), ("limit", 0)],
)
def test_a_number_that_cannot_work_is_a_fault(key, value):
    assert f"fit.{key}" in faults_of({"fit": {key: value}})[0]


@pytest.mark.parametrize(
    "given", [{"fit": 3}, {"loss": 3}, {"loss": {"name": 3}}, {"objective": 3}, {"data": "a.csv"}]
)
def test_a_section_of_the_wrong_kind_is_a_fault_and_not_a_crash(given):
    assert faults_of(given)


def test_a_whole_number_is_taken_where_a_float_is_meant():
    epochs = resolve({"fit": {"epochs": 3}}).fit.epochs
    assert epochs == 3.0
    assert isinstance(epochs, float)


def test_a_part_may_be_its_name_alone():
    assert resolve({"encoder": "lstm"}).encoder == resolve({"encoder": {"name": "lstm"}}).encoder


def test_another_part_drops_the_options_of_the_preset():
    settings = resolve({"objective": "maskloss-label", "loss": "zlpr"})
    assert settings.loss == resolve({"objective": "zlpr"}).loss
    assert settings.mask.name == "groups"


def test_an_option_alone_keeps_the_part_of_the_preset():
    settings = resolve({"objective": "maskloss-label", "mask": {"plain_share": 0.25}})
    assert settings.mask.name == "groups"
    assert settings.loss.options["labels"] == "mean"
    assert settings.mask.options["plain_share"] == 0.25


@pytest.mark.parametrize("encoder", registry.names("encoders"))
@pytest.mark.parametrize("objective", ["bce", "zlpr", "maskloss-label"])
def test_resolved_settings_read_back_as_themselves(encoder, objective):
    first = resolve(
        {
            "encoder": encoder,
            "objective": objective,
            "fit": {"epochs": 0.3},
            "data": {"separator": '\t|"'},
        }
    )
    again = resolve(tomllib.loads(first.to_toml()))
    assert again.as_dict() == first.as_dict()
    assert again.fit == first.fit
    assert again.data == first.data


def test_resolved_toml_writes_every_default_out():
    content = tomllib.loads(resolve({"encoder": "cnn"}).to_toml())
    assert content["encoder"]["windows"] == [3, 4, 5]
    assert set(content["fit"]) == {k for k, v in vars(FitSettings()).items() if v is not None}
    assert {"objective", *PLAIN_SECTIONS, *PART_SECTIONS} == set(content)


def test_settings_are_frozen():
    with pytest.raises(AttributeError):
        resolve({}).fit.epochs = 3.0


def test_tokens_have_an_encoder_and_a_head_of_their_own():
    made = resolve({}, "tokens")
    assert (made.encoder.name, made.embed.name, made.head.name, made.loss.name) == (
        *("bat", "hashes", "tokens"),
        "cross_entropy",
    )
    assert resolve({"encoder": "lstm"}, "tokens").head.name == "tokens"


def test_a_schedule_that_gives_the_rate_is_multiplied_by_one_unless_told_otherwise():
    assert resolve({"schedule": "bat"}, "tokens").fit.learning_rate == 1.0
    assert (
        resolve({"schedule": "bat", "fit": {"learning_rate": 0.5}}, "tokens").fit.learning_rate
        == 0.5
    )
    assert resolve({"schedule": "linear"}, "tokens").fit.learning_rate != 1.0


@pytest.mark.parametrize("given", [{"encoder": {"hidden": 16}}, {"encoder": {"filters": 16}}, {}])
def test_settings_of_either_default_encoder_may_be_given_before_the_task_is_known(given):
    check_settings(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"encoder": {"hiden": 16}}, "hiden"),
        ({"encoder": {"hidden": 16}, "fit": {"epoch": 1}}, r"^unknown setting of \[fit\] 'epoch'"),
        ({"encoder": {"hidden": 16}, "data": {"task": "many"}}, "unknown setting of cnn 'hidden'"),
        ({"data": {"task": 3}}, "data.task must be"),
        ({"data": "tokens"}, "data must be a table"),
    ],
)
def test_faults_that_no_task_makes_right_are_reported_before_data_are_read(given, message):
    with pytest.raises(SettingsError, match=message):
        check_settings(given)
